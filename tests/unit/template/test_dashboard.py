"""The dashboard answers, from top to bottom, what people ask, with nothing but numbers that there are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from adapter.metrics import METRICS
from adapter.model import Code, Received, Rejected, Source
from adapter.reconcile import Seen
from adapter.reconcile_telemetry import ReconcileTelemetry
from local.metrics import data
from local.resources import STACK
from tests.alarms.evaluation import alarms, deployed
from tests.unit.template.deployed import DEPLOYED

if TYPE_CHECKING:
    from collections.abc import Iterator

WAYS: dict[str, dict[str, str]] = {
    "here": {},
    "tokens, no stream": {"Access": "tokens", "EnableStream": "false"},
    "all": {"Access": "tokens", "SilenceMinutes": "60"},
}
QUESTIONS = [
    "Is lineage flowing?",
    "What is rejected, and whose?",
    "What waits?",
    "How is DataZone?",
    "How are the functions?",
]
_SEARCH = re.compile(r"SEARCH\('\{([\w,]+)\} MetricName=\"(\w+)\" service=\"([\w-]+)\"', 'Sum', 300\)")
DOORS = {door.value for door in Source if door is not Source.DATAZONE}


@dataclass(frozen=True, slots=True)
class Shown:
    namespace: str
    name: str
    dimensions: dict[str, str | None]


def widgets(**parameters: str) -> list[dict[str, Any]]:
    there = deployed(**parameters)
    ((name, dashboard),) = there.resources("AWS::CloudWatch::Dashboard").items()
    found: list[dict[str, Any]] = json.loads(there.resolve(dashboard["DashboardBody"], name))["widgets"]
    return found


def shown(widget: dict[str, Any]) -> Iterator[Shown]:
    """Give each metric of a graph; one that is searched for has dimensions of any value."""
    for row in widget["properties"]["metrics"]:
        if isinstance(row[0], dict):
            match = _SEARCH.fullmatch(row[0]["expression"])
            assert match, row
            namespace, *dimensions = match[1].split(",")
            yield Shown(namespace, match[2], {**dict.fromkeys(dimensions), "service": match[3]})
        else:
            namespace, name, *pairs = [one for one in row if isinstance(one, str)]
            yield Shown(namespace, name, dict(zip(pairs[::2], pairs[1::2], strict=True)))


def graphs(**parameters: str) -> list[dict[str, Any]]:
    return [one for one in widgets(**parameters) if one["type"] == "metric"]


@pytest.fixture
def emitted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, set[frozenset[str]]]:
    """Give the sets of dimensions that each metric of the functions' own is told by."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", STACK)
    reconcile = ReconcileTelemetry()
    reconcile.failed(Received(b"", Source.DATAZONE), None, Rejected(Code.FAILED_IN_DATAZONE, ""))
    for complete in (True, False):
        reconcile.passed(Seen(), complete=complete)
    lines = capsys.readouterr().out.splitlines()
    of_reconciliation = {datum.name: {frozenset(dict(datum.dimensions))} for line in lines for datum, _ in data(line)}
    of_doors = {
        name: {frozenset({"service", *dimensions}) for dimensions in metric.dimensions}
        for name, metric in METRICS.items()
    }
    return of_doors | of_reconciliation


@pytest.mark.parametrize("way", WAYS)
def test_every_number_of_our_own_is_one_that_the_functions_tell(
    way: str, emitted: dict[str, set[frozenset[str]]]
) -> None:
    ours = [one for graph in graphs(**WAYS[way]) for one in shown(graph) if one.namespace == "LineageAdapter"]
    assert len(ours) > 20
    for one in ours:
        assert frozenset(one.dimensions) in emitted[one.name], one
        assert one.dimensions["service"] == STACK
        assert one.dimensions.get("door") in {None, *DOORS}, one


@pytest.mark.parametrize("way", WAYS)
def test_every_number_of_awss_is_of_something_that_is_there(way: str) -> None:
    there = deployed(**WAYS[way])
    queues = {one.attributes["QueueName"] for one in there.physical.values() if "QueueName" in one.attributes}
    functions = {one.name for one in there.functions()}
    theirs = [one for graph in graphs(**WAYS[way]) for one in shown(graph) if one.namespace != "LineageAdapter"]
    watched = {
        (metric.namespace, metric.name, value)
        for alarm in alarms(**WAYS[way]).values()
        for metric in alarm.metrics()
        if metric.namespace != "LineageAdapter"
        for _, value in metric.dimensions
    }
    for one in theirs:
        ((dimension, value),) = one.dimensions.items()
        assert value in {"QueueName": queues, "FunctionName": functions}[dimension]
    # What an alarm looks at is there to be looked at.
    assert watched <= {(one.namespace, one.name, *one.dimensions.values()) for one in theirs}


@pytest.mark.parametrize("way", WAYS)
def test_every_alarm_is_at_the_top(way: str) -> None:
    first = widgets(**WAYS[way])[0]
    assert first["type"] == "alarm"
    names = [arn.rpartition(":")[2] for arn in first["properties"]["alarms"]]
    assert sorted(names) == sorted(f"{STACK}-{name}" for name in alarms(**WAYS[way]))


def test_the_questions_come_in_the_order_in_which_they_are_asked() -> None:
    headings = [one["properties"]["markdown"] for one in widgets() if one["type"] == "text"]
    assert headings == [f"## {question}" for question in QUESTIONS]


def test_each_row_is_as_wide_as_the_screen_and_each_graph_is_of_this_region() -> None:
    width = 0
    for one in widgets():
        assert width % 24 + one["width"] <= 24, one
        width += one["width"]
        if one["type"] == "metric":
            assert one["properties"]["region"] == "us-east-1"
    assert width % 24 == 0


def test_a_stack_has_a_dashboard_unless_it_is_not_to() -> None:
    assert DEPLOYED["Overview"]["Condition"] == "DashboardWanted"
