"""Judge, deliver, record: and nothing raises."""

from __future__ import annotations

from adapter.ingest import Ingest
from adapter.model import Cause, Code, Deferred, Delivered, FormatAssertion, Job, Received, Rejected, RunEvent, Source
from tests.fakes import FakeLineage, FakeQuarantine, FakeTelemetry, run_event

FAR = 1e9


def test_an_accepted_event_is_delivered_and_recorded() -> None:
    lineage, told = FakeLineage(), FakeTelemetry()
    received = Received(run_event(), Source.HTTP)
    outcome = Ingest(lineage, FakeQuarantine(), told)(received, FAR)
    assert isinstance(outcome, Delivered)
    assert [event.raw for event in lineage.given] == [received.raw]
    assert told.told == [(received, lineage.given[0], outcome)]


def test_a_refused_event_is_quarantined_and_recorded_and_goes_nowhere_else() -> None:
    lineage, quarantine, told = FakeLineage(), FakeQuarantine(), FakeTelemetry()
    received = Received(b'{"job": {"namespace": "retail", "name": "a"}, "run": 1}', Source.KINESIS)
    outcome = Ingest(lineage, quarantine, told)(received, FAR)
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.job) == (Code.SCHEMA_VIOLATION, Job("retail", "a"))
    assert outcome.quarantine_key
    assert lineage.given == []
    assert [one for one, _ in quarantine.kept] == [received]
    assert told.told == [(received, None, outcome)]


def test_what_datazone_refuses_is_quarantined_with_its_job() -> None:
    def refusing(_: RunEvent) -> Rejected:
        return Rejected(Code.REFUSED_BY_DATAZONE, "no")

    quarantine = FakeQuarantine()
    outcome = Ingest(FakeLineage(refusing), quarantine, FakeTelemetry())(Received(run_event(), Source.HTTP), FAR)
    assert isinstance(outcome, Rejected)
    assert outcome.job == Job("retail", "orders.daily")
    assert len(quarantine.kept) == 1


def test_what_cannot_be_quarantined_has_to_wait() -> None:
    outcome = Ingest(FakeLineage(), FakeQuarantine(away=True), FakeTelemetry())(Received(b"{", Source.HTTP), FAR)
    assert outcome == Deferred(Cause.QUARANTINE_UNREACHABLE)


def test_what_a_door_could_not_unwrap_is_refused_as_it_said() -> None:
    said = Rejected(Code.UNSUPPORTED_ENCODING, "torn")
    outcome = Ingest(FakeLineage(), FakeQuarantine(), FakeTelemetry())(
        Received(run_event(), Source.HTTP, refused=said), FAR
    )
    assert isinstance(outcome, Rejected)
    assert outcome.code is Code.UNSUPPORTED_ENCODING


def test_the_format_assertion_reaches_the_judge() -> None:
    naive = Received(run_event(eventTime="2026-11-29T10:00:00"), Source.HTTP)
    assert isinstance(Ingest(FakeLineage(), FakeQuarantine(), FakeTelemetry())(naive, FAR), Rejected)
    lenient = Ingest(FakeLineage(), FakeQuarantine(), FakeTelemetry(), FormatAssertion.WARN)(naive, FAR)
    assert isinstance(lenient, Delivered)
    assert lenient.warnings[0].path == "/eventTime"


def test_what_nobody_foresaw_defers_the_event_and_is_told() -> None:
    """A bug of ours must not cost an event."""

    def broken(_: RunEvent) -> Delivered:
        raise ZeroDivisionError

    told = FakeTelemetry()
    outcome = Ingest(FakeLineage(broken), FakeQuarantine(), told)(Received(run_event(), Source.HTTP), FAR)
    assert isinstance(outcome, Deferred)
    assert outcome.cause is Cause.UNEXPECTED
    assert outcome.client_token
    assert [type(fault) for fault in told.faults] == [ZeroDivisionError]


def test_a_judge_that_breaks_defers_the_event_too() -> None:
    told = FakeTelemetry()
    not_bytes = Received(None, Source.HTTP)  # type: ignore[arg-type]  # stands for whatever could break the judge
    assert Ingest(FakeLineage(), FakeQuarantine(), told)(not_bytes, FAR) == Deferred(Cause.UNEXPECTED)
    assert len(told.faults) == 1
