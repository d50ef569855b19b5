"""Somebody is told of what is, or soon will be, lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapter import backlog
from adapter.model import Received, Source
from adapter.telemetry import Telemetry
from tests.alarms.evaluation import MOST_METRICS, alarms
from tests.unit.template.deployed import DAY, DEPLOYED, FUNCTIONS, PARAMETERS, SERVICE, broken, given, of_type

ALARMS = of_type("AWS::CloudWatch::Alarm")
TOPIC = {"Fn::If": ["AlarmTopicGiven", {"Ref": "AlarmTopicArn"}, {"Ref": "AlarmTopic"}]}


@pytest.mark.parametrize("name", ALARMS)
def test_every_alarm_tells_the_topic_when_it_begins_and_when_it_is_over(name: str) -> None:
    """Where there is one: the given one or the stack's own."""
    told = {"Fn::If": ["SomebodyTold", [TOPIC], {"Ref": "AWS::NoValue"}]}
    assert ALARMS[name]["AlarmActions"] == ALARMS[name]["OKActions"] == told


@pytest.mark.parametrize("name", ALARMS)
def test_every_alarm_says_what_to_do_and_where_it_is_written(name: str) -> None:
    """CloudWatch takes a description of at most 1,024 characters."""
    said = ALARMS[name]["AlarmDescription"]
    text = said["Fn::Sub"] if isinstance(said, dict) else said
    assert text.endswith(f'docs/operate.md, "{name}"')
    assert 200 < len(text) < 1000


def test_no_alarm_looks_at_more_metrics_or_longer_than_cloudwatch_does() -> None:
    """At most a day for periods of less than an hour (Amazon CloudWatch API reference, PutMetricAlarm)."""
    for alarm in alarms(Access="tokens", SilenceMinutes=str(PARAMETERS["SilenceMinutes"]["MaxValue"])).values():
        assert len(alarm.metrics()) <= MOST_METRICS
        periods = {one["MetricStat"]["Period"] for one in alarm.properties.get("Metrics", ()) if "MetricStat" in one}
        (period,) = periods or {alarm.properties["Period"]}
        assert period * int(alarm.properties["EvaluationPeriods"]) <= DAY


def test_only_an_absence_alarms_when_nothing_is_said() -> None:
    """Of what never stops: events, where somebody expects them, and passes of reconciliation."""
    found = alarms(SilenceMinutes="10")
    assert {name for name, alarm in found.items() if alarm.fires(lambda _: None)} == {"ReconcileAlarm", "SilenceAlarm"}
    breaching = {name for name, alarm in found.items() if alarm.properties["TreatMissingData"] == "breaching"}
    assert breaching == {"ReconcileAlarm", "SilenceAlarm"}


def test_the_backlogs_age_is_judged_by_its_schedule() -> None:
    """An event is late at its eighth try: after an outage of half an hour, and before the dead-letter queue."""
    pauses = [30 * 2.0**tries for tries in range(7)]
    assert all(pause <= backlog.delay(tries) <= pause * 1.25 for tries, pause in enumerate(pauses, 1))
    late = PARAMETERS["LateSeconds"]
    assert sum(pauses[:6]) * 1.25 < late["Default"] < sum(pauses)
    assert late["MaxValue"] < sum(backlog.delay(tries) for tries in range(1, backlog.TRIES))


def test_a_late_event_alarms_from_one_try_to_the_next() -> None:
    alarm = DEPLOYED["BacklogAgeAlarm"]["Properties"]
    longest = max(backlog.delay(backlog.TRIES) for _ in range(200))
    assert longest <= alarm["EvaluationPeriods"] * alarm["Metrics"][1]["MetricStat"]["Period"] <= longest * 1.1
    assert alarm["DatapointsToAlarm"] == 1


def test_durations_are_held_against_the_functions_own_timeouts() -> None:
    alarm = alarms(Access="tokens")["FunctionDurationAlarm"]
    functions = {str(dict(metric.dimensions)["FunctionName"]).rpartition("-")[2]: metric for metric in alarm.metrics()}
    assert set(functions) == set(FUNCTIONS) - {"ReconcileFunction"}
    for name, metric in functions.items():
        limit = DEPLOYED[name]["Properties"]["Timeout"] * 1000
        assert not alarm.fires({metric: limit * 0.89}.get), name
        assert alarm.fires({metric: limit * 0.91}.get), name


@pytest.mark.parametrize("alarm", ["FunctionErrorsAlarm", "FunctionDurationAlarm"])
@pytest.mark.parametrize("parameters", [{}, {"Access": "tokens"}, {"EnableStream": "false"}], ids=str)
def test_functions_that_are_not_there_are_not_looked_at(alarm: str, parameters: dict[str, str]) -> None:
    there = {
        name
        for name, one in given(**{"EnableStream": "true", "Access": "open"} | parameters).items()
        if one["Type"] == "AWS::Lambda::Function"
    }
    looked_at = {
        str(value).rpartition("-")[2]
        for metric in alarms(**parameters)[alarm].metrics()
        for name, value in metric.dimensions
        if name == "FunctionName"
    }
    assert there - looked_at == ({"ReconcileFunction"} if alarm == "FunctionDurationAlarm" else set())
    assert looked_at <= there


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


EMAIL = {"AlarmEmail": "on-call@example.com"}
OWN_KEY = "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012"


def test_cloudwatch_and_nobody_else_may_publish_to_the_stacks_own_topic() -> None:
    statements = given(**EMAIL)["AlarmTopicPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    (allowed,) = (one for one in statements if one["Effect"] == "Allow")
    assert (allowed["Principal"], allowed["Action"]) == ({"Service": "cloudwatch.amazonaws.com"}, "sns:Publish")
    assert allowed["Condition"]["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_the_stacks_own_topic_is_encrypted_with_a_key_that_cloudwatch_may_use() -> None:
    """It may not use SNS's own, and what it cannot publish is lost without a word."""
    resources = given(**EMAIL)
    assert resources["AlarmTopic"]["Properties"]["KmsMasterKeyId"] == {"Ref": "AlarmKey"}
    statements = resources["AlarmKey"]["Properties"]["KeyPolicy"]["Statement"]
    assert {"Service": "cloudwatch.amazonaws.com"} in [one["Principal"] for one in statements]
    own = given(**EMAIL, KmsKeyArn=OWN_KEY)
    assert own["AlarmTopic"]["Properties"]["KmsMasterKeyId"] == {"Ref": "KmsKeyArn"}
    assert "AlarmKey" not in own


def test_a_stack_without_an_address_has_no_topic_and_one_with_a_topic_needs_no_address() -> None:
    assert not {"AlarmTopic", "AlarmKey", "AlarmTopicPolicy"} & given().keys()
    topic = {"AlarmTopicArn": "arn:aws:sns:eu-central-1:123456789012:on-call"}
    assert broken(**EMAIL, **topic) == ["OneIsTold"]
    assert broken(**EMAIL) == broken(**topic) == []
