"""Judge, deliver, record: and nothing raises."""

from __future__ import annotations

from adapter.ingest import Ingest
from adapter.model import Cause, Code, Deferred, Delivered, FormatAssertion, Received, Rejected, RunEvent, Source
from tests.fakes import FakeLineage, FakeTelemetry, run_event

FAR = 1e9


def test_an_accepted_event_is_delivered_and_recorded() -> None:
    lineage, told = FakeLineage(), FakeTelemetry()
    received = Received(run_event(), Source.HTTP)
    outcome = Ingest(lineage, told)(received, FAR)
    assert isinstance(outcome, Delivered)
    assert [event.raw for event in lineage.given] == [received.raw]
    assert told.told == [(received, lineage.given[0], outcome)]


def test_a_refused_event_is_recorded_and_goes_nowhere() -> None:
    lineage, told = FakeLineage(), FakeTelemetry()
    received = Received(b"{}", Source.KINESIS)
    outcome = Ingest(lineage, told)(received, FAR)
    assert isinstance(outcome, Rejected)
    assert outcome.code is Code.SCHEMA_VIOLATION
    assert lineage.given == []
    assert told.told == [(received, None, outcome)]


def test_the_format_assertion_reaches_the_judge() -> None:
    naive = Received(run_event(eventTime="2026-11-29T10:00:00"), Source.HTTP)
    assert isinstance(Ingest(FakeLineage(), FakeTelemetry())(naive, FAR), Rejected)
    lenient = Ingest(FakeLineage(), FakeTelemetry(), FormatAssertion.WARN)(naive, FAR)
    assert isinstance(lenient, Delivered)
    assert lenient.warnings[0].path == "/eventTime"


def test_what_nobody_foresaw_defers_the_event_and_is_told() -> None:
    """A bug of ours must not cost an event."""

    def broken(_: RunEvent) -> Delivered:
        raise ZeroDivisionError

    told = FakeTelemetry()
    outcome = Ingest(FakeLineage(broken), told)(Received(run_event(), Source.HTTP), FAR)
    assert isinstance(outcome, Deferred)
    assert outcome.cause is Cause.UNEXPECTED
    assert outcome.client_token
    assert [type(fault) for fault in told.faults] == [ZeroDivisionError]


def test_a_judge_that_breaks_defers_the_event_too() -> None:
    told = FakeTelemetry()
    not_bytes = Received(None, Source.HTTP)  # type: ignore[arg-type]  # stands for whatever could break the judge
    assert Ingest(FakeLineage(), told)(not_bytes, FAR) == Deferred(Cause.UNEXPECTED)
    assert len(told.faults) == 1
