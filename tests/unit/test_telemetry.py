"""One log line an event, counts by door and reason, and nothing of what an event says."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any
from uuid import uuid4

import pytest

from adapter.accept import accept
from adapter.model import (
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
    Violation,
)
from adapter.telemetry import Telemetry
from local.metrics import data
from tests.fakes import TIMES, run_event

RAW = run_event(eventTime="2026-11-29T10:00:00", secret="SECRET")
RECEIVED = Received(RAW, Source.HTTP)
EVENT = accept(RAW, FormatAssertion.WARN)


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # A logger is known by its service and keeps the first standard output it saw: each test has one of its own.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"lineage-adapter-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")


def _lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    written = capsys.readouterr().out
    assert "SECRET" not in written
    return [json.loads(line) for line in written.splitlines()]


def _values(capsys: pytest.CaptureFixture[str]) -> dict[tuple[str, ...], list[float]]:
    """Give the values of each metric by its dimensions beside the service, as CloudWatch would read them."""
    found: defaultdict[tuple[str, ...], list[float]] = defaultdict(list)
    for line in capsys.readouterr().out.splitlines():
        for datum, value in data(line):
            assert datum.namespace == "LineageAdapter"
            dimensions = sorted(f"{name}={value}" for name, value in datum.dimensions if name != "service")
            assert len(dimensions) < len(datum.dimensions)
            found[datum.name, *dimensions].append(value)
    return found


def test_a_delivered_event_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    assert isinstance(EVENT, RunEvent)
    telemetry.event(RECEIVED, EVENT, Delivered("abc123def456gh", "dzd_local", EVENT.client_token), TIMES)
    (line,) = _lines(capsys)
    assert line["message"] == "event"
    assert line["level"] == "INFO"
    assert {
        key: line[key] for key in ("door", "outcome", "bytes", "run_id", "job_namespace", "job_name", "event_type")
    } == {
        "door": "http",
        "outcome": "delivered",
        "bytes": len(RAW),
        "run_id": "00000000-0000-4000-8000-000000000001",
        "job_namespace": "retail",
        "job_name": "orders.daily",
        "event_type": "COMPLETE",
    }
    assert line["client_token"] == EVENT.client_token
    assert line["lineage_event_id"] == "abc123def456gh"


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Deferred(Cause.THROTTLED), {"outcome": "deferred", "cause": "throttled"}),
        (
            Rejected(Code.SCHEMA_VIOLATION, "violates", (Violation("/eventTime", "format", "must be"),)),
            {"outcome": "rejected", "code": "schema_violation", "errors": [{"path": "/eventTime", "rule": "format"}]},
        ),
    ],
)
def test_what_was_not_delivered_is_a_warning_with_its_reason(
    capsys: pytest.CaptureFixture[str], outcome: Outcome, expected: dict[str, object]
) -> None:
    telemetry = Telemetry()
    telemetry.event(RECEIVED, None, outcome, TIMES)
    (line,) = _lines(capsys)
    assert line["level"] == "WARNING"
    assert line.items() >= expected.items()


def test_a_key_cannot_break_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    forged = Violation('/a\r\n{"level":"ERROR"}', "format", "must be")
    telemetry.event(RECEIVED, None, Rejected(Code.SCHEMA_VIOLATION, "violates", (forged,)), TIMES)
    assert len(_lines(capsys)) == 1


@pytest.mark.parametrize("name", ["\ud800", "a\u2028b", "a\r\nb\x1b[31m", "\ufffe", "\u00e9\U0001f600"])
def test_no_name_costs_or_splits_its_line(capsys: pytest.CaptureFixture[str], name: str) -> None:
    telemetry = Telemetry()
    odd = accept(run_event(job={"namespace": name, "name": name}))
    assert isinstance(odd, RunEvent)
    telemetry.event(RECEIVED, odd, Delivered("id", "dzd_local", odd.client_token), TIMES)
    forged = Violation(f"/{name}", "format", "must be")
    telemetry.event(RECEIVED, None, Rejected(Code.SCHEMA_VIOLATION, "violates", (forged,), odd.job), TIMES)
    written = capsys.readouterr().out
    assert written.isascii()
    first, second = (json.loads(line) for line in written.splitlines())
    assert first["job_name"] == second["job_namespace"] == name


def test_counts_are_by_door_and_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    assert isinstance(EVENT, RunEvent)
    for _ in range(3):
        telemetry.event(RECEIVED, EVENT, Delivered("id", "dzd_local", EVENT.client_token), TIMES)
    telemetry.event(RECEIVED, EVENT, Deferred(Cause.TIMEOUT), TIMES)
    telemetry.event(Received(b"", Source.KINESIS), None, Rejected(Code.NOT_JSON, ""), TIMES)
    telemetry.event(Received(b"", Source.KINESIS), None, Rejected(Code.NOT_JSON, ""), TIMES)
    _lines(capsys)
    telemetry.flush()
    counted = {told: sum(values) for told, values in _values(capsys).items() if told[0] != "EventBytes"}
    assert counted == {
        ("Delivered", "door=http"): 3,
        ("Warned", "door=http"): 4,
        ("Warned", "door=http", "rule=format"): 4,
        ("Deferred", "door=http"): 1,
        ("Deferred", "cause=timeout", "door=http"): 1,
        ("Rejected", "door=kinesis"): 2,
        ("Rejected", "code=not_json", "door=kinesis"): 2,
    }
    telemetry.flush()
    assert _lines(capsys) == []


def test_a_fault_names_its_kind_and_place_and_not_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    try:
        RAW.decode().index("no such SECRET")
    except ValueError as error:
        telemetry.fault(error)
    telemetry.flush()
    line, metric = _lines(capsys)
    assert metric["Fault"] == [1.0]
    assert line["level"] == "ERROR"
    assert line["exception"] == "ValueError"
    assert "test_telemetry.py" in line["where"][0]


def test_an_event_that_nothing_took_is_an_error_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    telemetry.unkept(RECEIVED)
    telemetry.flush()
    line, metric = _lines(capsys)
    assert (line["level"], line["door"]) == ("ERROR", "http")
    assert metric["Unkept"] == [1.0]


def test_a_forbidden_namespace_is_counted_by_its_producer(capsys: pytest.CaptureFixture[str]) -> None:
    """Producers are those of the secret, so there are as many metrics as an operator has let in."""
    telemetry = Telemetry()
    telemetry.event(Received(b"", Source.BATCH, "spark"), None, Rejected(Code.NAMESPACE_NOT_ALLOWED, ""), TIMES)
    telemetry.event(Received(b"", Source.BATCH, "spark"), None, Rejected(Code.NOT_JSON, ""), TIMES)
    assert [line["producer"] for line in _lines(capsys)] == ["spark", "spark"]
    telemetry.flush()
    (counted,) = (line for line in _lines(capsys) if "NamespaceNotAllowed" in line)
    assert (counted["NamespaceNotAllowed"], counted["producer"], counted["door"]) == ([1.0], "spark", "batch")


def test_who_is_not_let_in_is_counted_by_the_reason_alone(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = Telemetry()
    telemetry.denied(Denial.SECRET_UNREADABLE, "ReadTimeoutError")
    telemetry.admitted("spark", "1f2e3d4c")
    denied, admitted = _lines(capsys)
    assert (denied["level"], denied["reason"], denied["cause"]) == ("WARNING", "secret_unreadable", "ReadTimeoutError")
    assert (admitted["level"], admitted["producer"], admitted["token_id"]) == ("INFO", "spark", "1f2e3d4c")
    telemetry.flush()
    (counted,) = _lines(capsys)
    (definition,) = counted["_aws"]["CloudWatchMetrics"]
    assert sorted(map(sorted, definition["Dimensions"])) == [["reason", "service"], ["service"]]
    assert counted["AuthorizerDenied"] == [1.0]
