"""The functions' embedded metrics arrive in the local CloudWatch as they would in AWS."""

from __future__ import annotations

import json
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from adapter.model import Cause, Deferred, Received, Source
from adapter.telemetry import Telemetry
from local.console import Trouble
from local.metrics import Datum, Metrics, data
from tests.fakes import TIMES

EMF = {
    "_aws": {
        "Timestamp": 1_796_000_000_500,
        "CloudWatchMetrics": [
            {
                "Namespace": "LineageAdapter",
                "Dimensions": [["service"], ["service", "door"]],
                "Metrics": [{"Name": "Delivered", "Unit": "Count"}, {"Name": "Bytes"}],
            }
        ],
    },
    "service": "stack",
    "door": "http",
    "Delivered": [2.0],
    "Bytes": 300,
}


def test_a_metric_is_told_once_for_each_set_of_dimensions() -> None:
    alone, both = (("service", "stack"),), (("service", "stack"), ("door", "http"))
    assert list(data(json.dumps(EMF))) == [
        (Datum("LineageAdapter", "Delivered", alone, "Count", 1_796_000_000), 2.0),
        (Datum("LineageAdapter", "Delivered", both, "Count", 1_796_000_000), 2.0),
        (Datum("LineageAdapter", "Bytes", alone, "None", 1_796_000_000), 300.0),
        (Datum("LineageAdapter", "Bytes", both, "None", 1_796_000_000), 300.0),
    ]


@pytest.mark.parametrize("line", ["", "plain", '{"message": "event"}', '["_aws"]', '{"_aws": '])
def test_other_lines_are_no_metrics(line: str) -> None:
    assert list(data(line)) == []


def test_what_telemetry_counts_is_read_back_by_name_and_dimensions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    service = f"stack-{uuid4()}"
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", service)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    telemetry = Telemetry()
    for _ in range(3):
        telemetry.event(Received(b"", Source.HTTP), None, Deferred(Cause.THROTTLED), TIMES)
    telemetry.flush()
    with mock_aws():
        client = boto3.client("cloudwatch", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")
        metrics = Metrics(client, Trouble(pytest.fail, "CloudWatch"))
        metrics.start()
        for line in capsys.readouterr().out.splitlines():
            metrics.log(line)
        metrics.stop()
        found = client.list_metrics(Namespace="LineageAdapter", MetricName="Deferred")["Metrics"]
        dimensions = [{one["Name"]: one["Value"] for one in metric["Dimensions"]} for metric in found]
        assert {"service": service, "door": "http"} in dimensions
        assert {"service": service, "door": "http", "cause": "throttled"} in dimensions


def test_a_cloudwatch_that_fails_is_said_once_and_stops_nothing() -> None:
    said: list[str] = []
    with mock_aws():
        client = boto3.client("cloudwatch", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")
        metrics = Metrics(client, Trouble(said.append, "CloudWatch"))
        metrics.start()
        broken = EMF | {"Delivered": [float("nan")]}
        for _ in range(2):
            metrics.log(json.dumps(broken))
        metrics.stop()
    assert len(said) == 1
