"""The account of the last hours adds up what each door and DataZone say, and says what it does not know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from adapter.model import Cause, Code, Source
from adapter.processing import Listed, Status, UnansweredError
from cli import status as command
from cli.main import group
from cli.status import InDataZone, Overview, counted, in_datazone

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class CloudWatch:
    """Gives each metric its number, and remembers what it was asked."""

    def __init__(self, numbers: dict[tuple[str, ...], float]) -> None:
        self.numbers = numbers
        self.asked: dict[str, Any] = {}

    def get_paginator(self, name: str) -> CloudWatch:
        assert name == "get_metric_data"
        return self

    def paginate(self, **asked: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as boto3's
        self.asked = asked
        for query in asked["MetricDataQueries"]:
            metric = query["MetricStat"]["Metric"]
            key = (metric["MetricName"], *(one["Value"] for one in metric["Dimensions"][1:]))
            yield {"MetricDataResults": [{"Id": query["Id"], "Values": [self.numbers.get(key, 0.0)]}]}


class DataZone:
    """Lists `numbers` events of each status, of two namespaces in turn."""

    def __init__(self, numbers: dict[Status, int]) -> None:
        self.numbers = numbers

    def listed(self, status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        del deadline
        assert before - after == HOUR.total_seconds()
        for number in range(self.numbers.get(status, 0)):
            yield Listed(f"{number}", after + 1, "retail" if number % 3 else "finance")


def test_counts_are_by_door_and_code() -> None:
    numbers: dict[tuple[str, ...], float] = {("Delivered", "http"): 7.0, ("Rejected", "kinesis", "not_json"): 2.0}
    client = CloudWatch(numbers)
    counts = counted(client, "stack", NOW - HOUR, NOW)
    assert dict(+counts) == {
        ("Delivered", Source.HTTP, None): 7,
        ("Rejected", Source.KINESIS, Code.NOT_JSON): 2,
    }
    dimensions = client.asked["MetricDataQueries"][0]["MetricStat"]["Metric"]["Dimensions"]
    assert dimensions[0] == {"Name": "service", "Value": "stack"}
    assert len(client.asked["MetricDataQueries"]) <= 500, "what one request may ask for"


@pytest.mark.parametrize(("days", "period"), [(14, 60), (15, 3600)])
def test_no_finer_than_cloudwatch_keeps(days: int, period: int) -> None:
    client = CloudWatch({})
    counted(client, "stack", NOW - timedelta(days=days), NOW)
    assert {query["MetricStat"]["Period"] for query in client.asked["MetricDataQueries"]} == {period}


def test_a_stream_that_gives_an_event_again_has_not_received_it_twice() -> None:
    numbers: dict[tuple[str, ...], float] = {
        ("Delivered", "kinesis"): 5.0,
        ("Deferred", "kinesis"): 90.0,
        ("Delivered", "backlog"): 3.0,
    }
    numbers |= {("Deferred", "http"): 3.0, ("Unkept", "batch"): 1.0, ("Rejected", "http"): 2.0}
    counts = counted(CloudWatch(numbers), "stack", NOW - HOUR, NOW)
    assert command._received(counts) == 5 + 3 + 1 + 2  # noqa: SLF001 - the rule itself


def test_datazone_is_counted_by_status_and_failures_by_namespace() -> None:
    numbers = {Status.REQUESTED: 1, Status.PROCESSING: 2, Status.SUCCESS: 30, Status.FAILED: 3}
    said = in_datazone(DataZone(numbers), NOW - HOUR, NOW)  # type: ignore[arg-type]  # in its place
    assert said == InDataZone(3, 30, 3, {"retail": 2, "finance": 1})


def test_counting_ends_somewhere_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LISTED", 10)
    said = in_datazone(DataZone({Status.SUCCESS: 11}), NOW - HOUR, NOW)  # type: ignore[arg-type]  # in its place
    assert (said.succeeded, said.counted_to_the_end) == (10, False)


def test_a_datazone_that_cannot_be_asked_is_said_and_costs_nothing_else() -> None:
    class Denied(DataZone):
        def listed(self, *_: object) -> Iterator[Listed]:
            raise UnansweredError(Cause.ACCESS_DENIED)

    said = in_datazone(Denied({}), NOW - HOUR, NOW)  # type: ignore[arg-type]  # in its place
    assert said.unanswered == "access_denied"
    overview = Overview("", "", 1, 1, 0, 0, 0, 0, {}, 0, said)
    assert "DataZone does not answer: access_denied" in list(command._lines(overview))  # noqa: SLF001 - what is printed


@pytest.mark.parametrize("span", ["", "1", "h", "0h", "1x", "-1h", "1h30m", "99999h"])
def test_a_span_is_minutes_hours_or_days(span: str) -> None:
    result = CliRunner().invoke(group, ["status", "--since", span])
    assert (result.exit_code, "15m, 1h, 2d" in result.output) == (2, True)
