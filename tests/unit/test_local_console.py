"""The terminal has a line for each event that says what became of it, and nothing of what is in it."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Callable

import pytest

from adapter.model import (
    Cause,
    Code,
    Deferred,
    Delivered,
    Job,
    Outcome,
    Received,
    Rejected,
    RunEvent,
    Source,
    Violation,
)
from adapter.telemetry import Telemetry
from local.console import Console, Trouble, rendered
from tests.fakes import TIMES

type Log = Callable[[RunEvent | None, Outcome], list[str]]

RUN = "00000000-0000-4000-8000-000000000001"
EVENT = RunEvent(b"{}", RUN, Job("retail", "orders.daily"), "COMPLETE", "0" * 64)


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Log:
    """Have the adapter's own telemetry log an outcome, and render all it writes."""
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "test")
    # A logger keeps the output it was made with, so this one is the test's own.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", str(uuid.uuid4()))

    def logged(event: RunEvent | None, outcome: Outcome) -> list[str]:
        telemetry = Telemetry()
        telemetry.event(Received(b"{}", Source.HTTP), event, outcome, TIMES)
        telemetry.flush()
        written = capsys.readouterr().out.splitlines()
        assert len(written) > 1
        return [text for line in written if (text := rendered("HttpFunction", line)) is not None]

    return logged


def test_delivered(log: Log) -> None:
    (line,) = log(EVENT, Delivered("a" * 14, "dzd_local", "0" * 64))
    assert line == f"http     delivered  COMPLETE of retail/orders.daily run {RUN}, 2 bytes"


def test_deferred(log: Log) -> None:
    (line,) = log(EVENT, Deferred(Cause.THROTTLED, "0" * 64))
    assert line == f"http     deferred   throttled COMPLETE of retail/orders.daily run {RUN}, 2 bytes"


def test_rejected_names_the_first_broken_rule(log: Log) -> None:
    errors = (Violation("/eventTime", "format", "x"), Violation("", "required", "x"))
    (line,) = log(None, Rejected(Code.SCHEMA_VIOLATION, "x", errors, Job("retail", "orders")))
    assert (
        line == "http     rejected   schema_violation (format at /eventTime and 1 more) event of retail/orders, 2 bytes"
    )


def test_other_lines_are_short() -> None:
    entry = {"level": "ERROR", "message": "unexpected exception", "exception": "ValueError", "timestamp": "now"}
    assert rendered("F", json.dumps(entry)) == "  F: ERROR unexpected exception (exception: ValueError)"
    assert rendered("F", "no JSON") == "  F: no JSON"
    assert rendered("F", "[1]") == "  F: [1]"


def test_metrics_are_not_for_people() -> None:
    assert rendered("F", json.dumps({"_aws": {}, "Delivered": 1})) is None


def test_no_name_moves_the_cursor() -> None:
    entry = {"message": "event", "door": "http", "outcome": "delivered", "job_namespace": "\x1b[2J\n", "job_name": "x"}
    line = rendered("F", json.dumps(entry))
    assert line is not None
    assert line.isprintable()


def test_lines_are_written_whole() -> None:
    out = io.StringIO()
    console = Console(out)
    console.say("one")
    console.log("F", "two")
    console.log("F", '{"_aws": {}}')
    assert out.getvalue() == "one\n  F: two\n"


def test_trouble_is_told_when_it_begins_and_when_it_ends() -> None:
    said: list[str] = []
    trouble = Trouble(said.append, "SQS")
    trouble.over()
    for _ in range(3):
        trouble.seen(OSError("gone"))
    trouble.over()
    trouble.over()
    assert said == ["  SQS fails: gone", "  SQS answers again"]


def test_a_failure_found_by_reconciliation_is_an_event_and_a_quiet_pass_is_none() -> None:
    failure = {"level": "ERROR", "message": "failed in datazone", "door": "datazone", "outcome": "failed", "bytes": 7}
    failure |= {"code": "failed_in_datazone", "job_namespace": "retail", "job_name": "orders", "event_type": "START"}
    assert rendered("ReconcileFunction", json.dumps(failure)) == (
        "datazone failed     failed_in_datazone START of retail/orders, 7 bytes"
    )
    quiet = {"level": "INFO", "message": "reconciled"}
    assert rendered("ReconcileFunction", json.dumps(quiet)) is None
    assert rendered("ReconcileFunction", json.dumps(quiet | {"level": "WARNING"})) is not None
