"""A batch of stream records, told to the door in Lambda's words."""

from __future__ import annotations

import base64
import gzip
import time
from typing import Any

import pytest

from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Cause, Code, Deferred, Outcome, Rejected, RunEvent, Source
from local.kpl import aggregate
from tests.fakes import FakeLineage, FakeQuarantine, FakeTelemetry, Script, delivered, run_event


class Context:
    def __init__(self, milliseconds: int = 60_000) -> None:
        self.milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


class Door:
    """A door on fakes, and a way to hand it a batch."""

    def __init__(self, script: Script = delivered) -> None:
        self.lineage = FakeLineage(script)
        self.told = FakeTelemetry()
        self.quarantine = FakeQuarantine()
        ingest = Ingest(self.lineage, self.quarantine, self.told)
        self.door = KinesisDoor(ingest, Lanes(ingest, 4, 10.0))

    def hand(self, *data: bytes) -> list[str]:
        """Give the sequence numbers that the door reports; records are numbered from `seq-0`."""
        batch: Any = {"Records": [_record(place, one) for place, one in enumerate(data)]}
        failures = self.door(batch, Context())["batchItemFailures"]
        return [failure["itemIdentifier"] for failure in failures]

    def codes(self) -> list[Code]:
        return [outcome.code for _, _, outcome in self.told.told if isinstance(outcome, Rejected)]


def _record(place: int, data: bytes) -> dict[str, Any]:
    kinesis: dict[str, Any] = {
        "sequenceNumber": f"seq-{place}",
        "partitionKey": "k",
        "data": base64.b64encode(data).decode(),
    }
    kinesis |= {"approximateArrivalTimestamp": 1_764_410_000.5}
    return {"eventSource": "aws:kinesis", "kinesis": kinesis}


def _waiting_for(*runs: int) -> Script:
    def script(event: RunEvent) -> Outcome:
        waits = int(event.run_id[-3:]) in runs
        return Deferred(Cause.THROTTLED, event.client_token) if waits else delivered(event)

    return script


def test_plain_gzipped_and_aggregated_records_arrive_with_their_own_bytes() -> None:
    door = Door()
    events = [run_event(run) for run in range(1, 6)]
    packed = aggregate([("k", events[2]), ("l", gzip.compress(events[3])), ("k", events[4])])
    assert door.hand(events[0], gzip.compress(events[1]), packed) == []
    assert sorted(event.raw for event in door.lineage.given) == sorted(events)
    assert {received.source for received, _, _ in door.told.told} == {Source.KINESIS}
    assert door.told.flushed == 1


def test_a_bad_record_never_holds_the_shard_up() -> None:
    door = Door()
    reported = door.hand(
        b"", run_event(1), b"\xff", b'{"job": {}}', b"\x1f\x8b", run_event(2), b"\xf3\x89\x9a\xc2 torn"
    )
    assert reported == []
    assert len(door.lineage.given) == 2
    assert sorted(door.codes()) == sorted(
        [Code.NOT_JSON, Code.NOT_UTF8, Code.UNSUPPORTED_KIND, Code.UNSUPPORTED_ENCODING, Code.UNSUPPORTED_ENCODING]
    )


def test_one_bad_event_in_an_aggregate_costs_its_neighbours_nothing() -> None:
    door = Door()
    packed = aggregate([("k", run_event(1)), ("k", b"{bad"), ("k", gzip.compress(b"x")[:-1]), ("k", run_event(2))])
    assert door.hand(packed) == []
    assert len(door.lineage.given) == 2
    assert sorted(door.codes()) == [Code.NOT_JSON, Code.UNSUPPORTED_ENCODING]


def test_a_broken_aggregate_is_recorded_with_its_bytes() -> None:
    door = Door()
    torn = aggregate([("k", run_event(1))])[:-3]
    assert door.hand(torn) == []
    ((received, _),) = door.quarantine.kept
    assert received.raw == torn
    assert received.received_at == 1_764_410_000.5


def test_what_cannot_be_quarantined_is_given_again() -> None:
    door = Door()
    door.quarantine.away = True
    assert door.hand(run_event(1), b"{bad", run_event(2)) == ["seq-1"]
    assert len(door.lineage.given) == 2


def test_an_aggregate_of_nothing_is_nothing() -> None:
    assert Door().hand(aggregate([])) == []


@pytest.mark.parametrize(
    ("waiting", "reported"), [((), []), ((3,), ["seq-2"]), ((5, 2), ["seq-1"]), ((1,), ["seq-0"]), ((6,), ["seq-5"])]
)
def test_the_lowest_unfinished_sequence_number_is_reported(waiting: tuple[int, ...], reported: list[str]) -> None:
    door = Door(_waiting_for(*waiting))
    assert door.hand(*(run_event(run) for run in range(1, 7))) == reported
    assert len(door.lineage.given) == 6


def test_an_aggregate_is_unfinished_while_one_of_its_events_is() -> None:
    door = Door(_waiting_for(2))
    packed = aggregate([("k", run_event(1)), ("k", run_event(2)), ("k", run_event(3))])
    assert door.hand(run_event(4), packed, run_event(5)) == ["seq-1"]


def test_what_follows_in_a_run_that_has_to_wait_is_not_sent_ahead() -> None:
    door = Door(_waiting_for(1))
    assert door.hand(run_event(1, step=1), run_event(2), run_event(1, step=2)) == ["seq-0"]
    assert [event.run_id[-1] for event in door.lineage.given].count("1") == 1


def test_a_bad_record_before_one_that_waits_is_not_the_one_reported() -> None:
    assert Door(_waiting_for(1)).hand(b"{bad", run_event(1), b"{bad") == ["seq-1"]


def test_the_door_stops_before_the_function_is_stopped() -> None:
    deadlines: list[float] = []

    class Noting(FakeLineage):
        def deliver(self, event: RunEvent, deadline: float) -> Outcome:
            deadlines.append(deadline)
            return super().deliver(event, deadline)

    told = FakeTelemetry()
    ingest = Ingest(Noting(), FakeQuarantine(), told)
    door = KinesisDoor(ingest, Lanes(ingest, 1, 10.0))
    now = time.monotonic()
    door({"Records": [_record(0, run_event())]}, Context(5_000))
    assert now < deadlines[0] < now + 3.5


def test_an_empty_batch_is_done() -> None:
    assert Door().hand() == []


def test_a_record_that_is_a_bomb_is_refused_whole_with_its_own_bytes() -> None:
    door = Door()
    small_bombs = gzip.compress(b" " * 6_000_000)
    bomb = aggregate([("k", small_bombs)] * 60)
    assert door.hand(run_event(1), bomb, run_event(2)) == []
    ((received, rejected),) = door.quarantine.kept
    assert (received.raw, rejected.code) == (bomb, Code.TOO_LARGE)
    assert len(door.lineage.given) == 2


def test_an_aggregate_of_very_many_records_is_refused_whole_with_its_own_bytes() -> None:
    """It would not fit into memory, and a record that kills the function comes again for days."""
    door = Door()
    full, overfull = (aggregate([("k", b"{}")] * count) for count in (10_000, 10_001))
    assert door.hand(run_event(1), overfull, run_event(2)) == []
    ((received, rejected),) = door.quarantine.kept
    assert (received.raw, rejected.code) == (overfull, Code.TOO_LARGE)
    assert len(door.lineage.given) == 2
    assert door.hand(full, run_event(3)) == ["seq-1"]


def test_a_batch_that_grows_too_large_is_taken_in_several_goes() -> None:
    """Each go does some of it, and names the first record that it left."""
    door = Door()
    large = gzip.compress(run_event(1, x="x" * 5_900_000))
    batch = [large] * 7 + [run_event(2)]
    assert door.hand(*batch) == ["seq-6"]
    assert door.hand(*batch[6:]) == []
    assert len(door.lineage.given) == 1
