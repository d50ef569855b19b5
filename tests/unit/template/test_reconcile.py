"""Reconciliation comes on a schedule and reads of the bucket what it has written itself."""

from __future__ import annotations

import json
from typing import Any, cast
from uuid import uuid4

import pytest

from adapter.found import Found, Position
from adapter.model import Code, Received, Rejected, Source
from adapter.reconcile import ANSWER, Seen
from adapter.reconcile_telemetry import ReconcileTelemetry
from tests.unit.template.deployed import DEPLOYED, get_att, of_type, role_of
from tests.unit.template.test_granted import Keys


def test_reconciliation_reads_and_writes_what_it_has_found_and_nothing_else_of_the_bucket() -> None:
    (policy,) = (policy for policy in role_of("ReconcileFunction")["Policies"] if policy["PolicyName"] == "found")
    granted = {tuple(one["Action"]): one["Resource"] for one in policy["PolicyDocument"]["Statement"]}
    assert granted == {
        ("s3:GetObject", "s3:PutObject"): {"Fn::Sub": "${Quarantine.Arn}/reconcile/*"},
        ("s3:ListBucket",): get_att("Quarantine"),
    }
    bucket = Keys()
    found = Found(cast("Any", bucket), "bucket")
    found.save(Position(1.0, 1.0))
    found.add("id", 1.0, "key")
    assert {key.partition("/")[0] for key in bucket.keys} == {"reconcile"}


@pytest.mark.parametrize(
    ("alarm", "statistic"),
    [("DataZoneFailedAlarm", "Sum"), ("DataZoneUnfinishedAlarm", "Maximum"), ("ReconcileAlarm", "Sum")],
)
def test_somebody_is_told_by_what_the_function_counts(
    alarm: str, statistic: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"alarm-{uuid4()}")
    telemetry = ReconcileTelemetry()
    telemetry.failed(Received(b"", Source.DATAZONE), None, Rejected(Code.FAILED_IN_DATAZONE, ""))
    telemetry.passed(Seen(), complete=True)
    emitted = [
        json.loads(line)["_aws"]["CloudWatchMetrics"][0]
        for line in capsys.readouterr().out.splitlines()
        if "_aws" in line
    ]
    names = {one["Metrics"][0]["Name"] for one in emitted}
    watched = DEPLOYED[alarm]["Properties"]
    assert watched["MetricName"] in names
    assert watched["Namespace"] == "LineageAdapter"
    assert [one["Name"] for one in watched["Dimensions"]] == ["service"]
    assert watched["Statistic"] == statistic


def test_passes_come_one_after_the_other_and_the_next_one_is_the_retry() -> None:
    """A pass ends by its own clock before Lambda's, and that before the next pass is due."""
    (rule,) = of_type("AWS::Events::Rule").values()
    assert rule["ScheduleExpression"] == "rate(5 minutes)"
    assert ANSWER < DEPLOYED["ReconcileFunction"]["Properties"]["Timeout"] < 5 * 60
    (invoke,) = of_type("AWS::Lambda::EventInvokeConfig").values()
    assert invoke["MaximumRetryAttempts"] == 0
