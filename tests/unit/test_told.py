"""What docs/operate.md says is counted and logged is what the doors count and log, no less and no more."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapter.accept import accept
from adapter.doors.http import BATCH_PATH
from adapter.metrics import METRICS
from adapter.model import (
    Call,
    Cause,
    Code,
    Deferred,
    Delivered,
    Denial,
    FormatAssertion,
    Outcome,
    Received,
    Rejected,
    RunEvent,
    Source,
)
from adapter.telemetry import Telemetry
from local.kpl import aggregate
from local.metrics import data
from tests import driven
from tests.fakes import TIMES, run_event

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OPERATE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()
EVERYWHERE = {"level", "message", "timestamp", "service"}
WHERE_THERE_IS_ONE = {"request_id", "gateway_request_id", "xray_trace_id", "location"}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # A logger is known by its service and keeps the first standard output it saw: each test has one of its own.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"told-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=0")


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> str:
    driven.drive()
    return capsys.readouterr().out


def _rows(header: str) -> Iterator[list[str]]:
    """Give the cells of the table in docs/operate.md that begins with `header`."""
    for line in OPERATE.split(f"\n| {header} |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def _names(cell: str) -> tuple[str, ...]:
    return tuple(re.findall(r"`([^`]+)`", cell))


def _sets(cell: str) -> set[tuple[str, ...]]:
    return {tuple(sorted(_names(one))) for one in cell.split(";")}


def test_every_metric_is_listed_with_its_unit_and_its_dimensions_and_none_else(log: str) -> None:
    told: dict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for line in log.splitlines():
        for datum, _ in data(line):
            names = sorted(name for name, _ in datum.dimensions)
            assert "service" in names
            told[datum.name, datum.unit].add(tuple(name for name in names if name != "service"))
    listed = {(_names(metric)[0], unit): _sets(by) for metric, unit, by, _ in _rows("metric")}
    assert listed == told
    assert METRICS.keys() < {name for name, _ in told}


def test_every_field_of_an_event_s_line_is_explained_and_none_else(log: str) -> None:
    events = [line for line in driven.lines(log) if line["message"] == "event"]
    fields = {name for line in events for name in line} - EVERYWHERE - WHERE_THERE_IS_ONE
    assert fields == {name for first, _ in _rows("field of an `event` line") for name in _names(first)}


def test_every_other_line_is_listed_with_its_level_and_its_fields(log: str) -> None:
    levels: dict[str, set[str]] = defaultdict(set)
    fields: dict[str, set[str]] = defaultdict(set)
    for line in driven.lines(log):
        assert line.keys() >= EVERYWHERE
        levels[line["message"]].add(line["level"])
        fields[line["message"]] |= line.keys() - EVERYWHERE - WHERE_THERE_IS_ONE
    del fields["event"]
    listed = {_names(message)[0]: (level, more) for message, level, more in _rows("other lines")}
    assert {message: set(level.split(" or ")) for message, (level, _) in listed.items()} == {
        message: levels[message] for message in fields
    }
    assert {message: set(_names(more)) for message, (_, more) in listed.items()} == fields


def test_every_line_says_which_request_it_belongs_to(log: str) -> None:
    """Lambda's own lines, START and REPORT, and the gateway's access log have the same ids."""
    events = [line for line in driven.lines(log) if line["message"] == "event"]
    assert all(line["request_id"] == driven.Context.aws_request_id for line in events)
    by_door: dict[str, set[str]] = defaultdict(set)
    for line in events:
        by_door[line["door"]] |= line.keys()
    assert "gateway_request_id" in by_door["http"] & by_door["batch"]
    assert {"shard_id", "sequence_number", "sub_sequence_number"} <= by_door["kinesis"]
    assert {"message_id", "waited_seconds"} <= by_door["backlog"]


def _dimensions(written: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for line in written.splitlines():
        for datum, _ in data(line):
            yield datum.name, dict(datum.dimensions)


_CLOSED: dict[str, set[str]] = {
    "door": set(Source),
    "cause": set(Cause),
    "code": set(Code),
    "reason": set(Denial),
    "producer": {driven.PRODUCER},
    "rule": {"format", "misplaced_facet", "misshapen_facet", "empty_schema", "unversioned_schema_url", "says_nothing"},
}
_text = st.text(min_size=1, max_size=30)
_outcomes = st.sampled_from(
    [
        Delivered("abc123def456gh", "dzd_local", "0" * 64, calls=(Call(0.5),)),
        Deferred(Cause.THROTTLED, "0" * 64, calls=(Call(0.5, Cause.THROTTLED),)),
        Rejected(Code.NAMESPACE_NOT_ALLOWED, "no"),
        Rejected(Code.SCHEMA_VIOLATION, "no"),
    ]
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    job=st.fixed_dictionaries({"namespace": _text, "name": _text}),
    facets=st.dictionaries(_text, st.fixed_dictionaries({"_producer": _text, "_schemaURL": _text}), max_size=3),
    outcome=_outcomes,
    source=st.sampled_from([Source.HTTP, Source.BATCH, Source.KINESIS, Source.BACKLOG]),
)
def test_no_word_of_an_event_is_ever_a_dimension(
    job: dict[str, str],
    facets: dict[str, dict[str, str]],
    outcome: Outcome,
    source: Source,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each value of a dimension is paid for; emitters must not be able to make one."""
    raw = run_event(job={**job, "facets": facets}, eventTime=job["name"], producer=job["namespace"])
    judged = accept(raw, FormatAssertion.WARN)
    telemetry = Telemetry()
    event = judged if isinstance(judged, RunEvent) else None
    telemetry.event(Received(raw, source, driven.PRODUCER, waited=source is Source.BACKLOG), event, outcome, TIMES)
    telemetry.flush()
    told = list(_dimensions(capsys.readouterr().out))
    assert told
    for _, dimensions in told:
        assert all(dimensions[name] in _CLOSED[name] for name in dimensions.keys() - {"service"}), dimensions


def test_a_producer_is_whom_the_authorizer_names_and_nobody_else(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a stream nor an event's own `producer` makes a metric."""
    door = driven.Driven()
    door.stream(run_event(1), run_event(2, producer="https://example.com/other"))
    assert not any("producer" in dimensions for _, dimensions in _dimensions(capsys.readouterr().out))
    door.post(run_event(3, producer="https://example.com/other"))
    told = [dimensions for _, dimensions in _dimensions(capsys.readouterr().out)]
    assert {dimensions["producer"] for dimensions in told if "producer" in dimensions} == {driven.PRODUCER}


def test_the_size_of_a_batch_is_told_at_each_door_that_has_batches(capsys: pytest.CaptureFixture[str]) -> None:
    door = driven.Driven()
    door.post(b"[" + run_event(1) + b"," + run_event(2) + b"]", BATCH_PATH)
    door.stream(run_event(3), aggregate([("k", run_event(4)), ("k", run_event(5)), ("k", run_event(6))]))
    door.wait(Received(run_event(7), Source.HTTP))
    told = [told for line in capsys.readouterr().out.splitlines() for told in data(line)]
    sizes = {dict(datum.dimensions)["door"]: size for datum, size in told if datum.name == "BatchSize"}
    assert sizes == {"batch": 2, "kinesis": 2, "backlog": 1}
    assert [count for datum, count in told if datum.name == "Deaggregated"] == [3]


def test_an_event_of_a_compressed_batch_is_not_said_to_have_come_compressed(capsys: pytest.CaptureFixture[str]) -> None:
    """What came is the size of all of them."""
    driven.Driven().post(gzip.compress(b"[" + run_event() + b"]"), BATCH_PATH)
    (line,) = driven.lines(capsys.readouterr().out)
    assert line["bytes"] == len(run_event())
    assert "packed_bytes" not in line


def test_more_values_than_a_document_may_have_are_in_several(capsys: pytest.CaptureFixture[str]) -> None:
    """CloudWatch takes 100 values of a metric in one document; none is lost, and sums are told once."""
    telemetry = Telemetry()
    for number in range(250):
        outcome = Delivered("abc123def456gh", "dzd_local", "0" * 64, calls=(Call(number / 1000), Call(1.0)))
        telemetry.event(Received(b"{}", Source.KINESIS), None, outcome, TIMES)
    capsys.readouterr()
    telemetry.flush()
    documents: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    latencies = [one["DataZoneLatency"] for one in documents]
    assert [len(values) for values in latencies] == [100] * 5
    assert sorted(value for values in latencies for value in values) == sorted([*range(250), *[1000] * 250])
    assert [one.get("Delivered") for one in documents] == [[250], None, None, None, None]
    assert sum(len(one.get("EventBytes", [])) for one in documents) == 250
    for one in documents:
        named = {metric["Name"] for directive in one["_aws"]["CloudWatchMetrics"] for metric in directive["Metrics"]}
        assert named <= one.keys(), "CloudWatch refuses a document that lacks what it announces"


def test_one_event_over_http_is_one_line_and_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    driven.Driven().post(run_event())
    line, document = map(json.loads, capsys.readouterr().out.splitlines())
    assert line["outcome"] == "delivered"
    assert (document["Delivered"], document["producer"]) == ([1], driven.PRODUCER)
    assert {"EventBytes", "DataZoneLatency"} <= document.keys()
