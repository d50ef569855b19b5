"""Somebody is told of what is, or soon will be, lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapter.model import Received, Source
from adapter.telemetry import Telemetry
from tests.unit.template.deployed import DEPLOYED, SERVICE, of_type


@pytest.mark.parametrize("name", of_type("AWS::CloudWatch::Alarm"))
def test_every_alarm_goes_off_at_one_event_and_tells_the_topic_if_there_is_one(name: str) -> None:
    """Or at the absence of the one that always comes."""
    alarm = DEPLOYED[name]["Properties"]
    absence = name == "ReconcileAlarm"
    at = (1, "LessThanThreshold") if absence else (0, "GreaterThanThreshold")
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == at
    assert absence == (alarm["TreatMissingData"] == "breaching")
    assert alarm["AlarmActions"] == {"Fn::If": ["AlarmTopicGiven", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}


def test_somebody_is_told_of_the_first_dead_letter_and_what_to_do() -> None:
    alarm = DEPLOYED["DeadLettersAlarm"]["Properties"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/SQS", "ApproximateNumberOfMessagesVisible")
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["DeadLetters", "QueueName"]}}]
    assert (alarm["Statistic"], alarm["EvaluationPeriods"]) == ("Maximum", 1)
    for command in ("status", "redrive"):
        assert (
            f"`lineage-adapter backlog {command} --stack ${{AWS::StackName}}`" in alarm["AlarmDescription"]["Fn::Sub"]
        )


def test_a_queue_that_was_not_empty_alarms_until_it_is_seen_empty() -> None:
    """SQS sends no numbers of a queue that nobody has used for hours; that is not the end of an alarm."""
    assert DEPLOYED["DeadLettersAlarm"]["Properties"]["TreatMissingData"] == "ignore"


def test_somebody_is_told_of_an_event_that_nothing_durable_took(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alarm adds up, by name and dimensions, what telemetry counts of both HTTP doors, with the others' none."""
    alarm = DEPLOYED["UnkeptAlarm"]["Properties"]
    total, *watched = alarm["Metrics"]
    assert total["Expression"] == " + ".join(f"FILL({one['Id']}, 0)" for one in watched)
    assert {one["MetricStat"]["Stat"] for one in watched} == {"Sum"}
    assert not any(one["ReturnData"] for one in watched)
    assert alarm["DatapointsToAlarm"] == 1
    assert alarm["TreatMissingData"] == "notBreaching"
    assert [_metric(one["MetricStat"]["Metric"]) for one in watched] == _counted(capsys, monkeypatch)


def _metric(watched: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    dimensions = {one["Name"]: one["Value"] for one in watched["Dimensions"]}
    assert dimensions["service"] == DEPLOYED["HttpFunction"]["Properties"]["Environment"]["Variables"][SERVICE]
    return watched["Namespace"], watched["MetricName"], dimensions | {"service": "stack"}


def _counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str, dict[str, str]]]:
    variables = DEPLOYED["HttpFunction"]["Properties"]["Environment"]["Variables"]
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", variables["POWERTOOLS_METRICS_NAMESPACE"])
    monkeypatch.setenv(SERVICE, "stack")
    telemetry = Telemetry()
    for source in (Source.HTTP, Source.BATCH):
        telemetry.unkept(Received(b"", source))
    telemetry.flush()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [
        (metric["Namespace"], metric["Metrics"][0]["Name"], {name: line[name] for name in metric["Dimensions"][0]})
        for line in lines
        if "_aws" in line
        for metric in line["_aws"]["CloudWatchMetrics"]
    ]
