"""A batch of messages, told to the door in Lambda's words."""

from __future__ import annotations

import gzip
from typing import Any

from adapter import backlog
from adapter.doors.backlog import BacklogDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Cause, Code, Deferred, Outcome, Received, Rejected, RunEvent, Source
from tests.fakes import FakeBacklog, FakeLineage, FakeQuarantine, FakeTelemetry, Script, delivered, run_event


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


class Door:
    """A door on fakes, and a way to hand it messages."""

    def __init__(self, script: Script = delivered) -> None:
        self.lineage = FakeLineage(script)
        self.quarantine = FakeQuarantine()
        self.told = FakeTelemetry()
        self.queue = FakeBacklog()
        ingest = Ingest(self.lineage, self.quarantine, self.told)
        self.door = BacklogDoor(ingest, Lanes(ingest, 4, 10.0), self.queue)

    def hand(self, *bodies: str, attempt: int = 1) -> list[str]:
        records: list[dict[str, Any]] = [
            {
                "messageId": f"message-{place}",
                "receiptHandle": f"handle-{place}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(attempt)},
            }
            for place, body in enumerate(bodies)
        ]
        return [
            failure["itemIdentifier"] for failure in self.door({"Records": records}, Context())["batchItemFailures"]
        ]


def _message(raw: bytes, source: Source = Source.HTTP) -> str:
    return backlog.message(Received(raw, source, "spark-prod", 1_764_410_000.0), None)


def test_what_waited_is_delivered_with_its_own_bytes_and_story() -> None:
    door = Door()
    assert door.hand(_message(run_event(1)), _message(run_event(2), Source.BATCH)) == []
    assert sorted(event.raw for event in door.lineage.given) == [run_event(1), run_event(2)]
    told = sorted(received.source for received, _, _ in door.told.told)
    assert told == [Source.BATCH, Source.HTTP]
    assert {received.door for received, _, _ in door.told.told} == {Source.BACKLOG}
    assert {(received.producer, received.received_at) for received, _, _ in door.told.told} == {
        ("spark-prod", 1_764_410_000.0)
    }
    assert door.told.flushed == 1


def test_what_has_to_wait_longer_comes_again_later_and_costs_its_neighbours_nothing() -> None:
    def script(event: RunEvent) -> Outcome:
        waits = event.run_id.endswith("2")
        return Deferred(Cause.THROTTLED, event.client_token) if waits else delivered(event)

    door = Door(script)
    assert door.hand(*(_message(run_event(run)) for run in (1, 2, 3)), attempt=5) == ["message-1"]
    assert list(door.queue.postponed) == ["handle-1"]
    assert 480 <= door.queue.postponed["handle-1"] <= 600


def test_datazone_s_own_wish_to_wait_longer_is_granted() -> None:
    door = Door(lambda event: Deferred(Cause.THROTTLED, event.client_token, retry_after=90.0))
    door.hand(_message(run_event(1)))
    assert door.queue.postponed == {"handle-0": 90}


def test_what_is_refused_now_is_quarantined_and_done() -> None:
    door = Door()
    assert door.hand(_message(b"{bad"), "none of ours", _message(gzip.compress(run_event(1)))) == []
    assert sorted(rejected.code for _, rejected in door.quarantine.kept) == [Code.NOT_JSON, Code.NOT_JSON]
    assert [event.raw for event in door.lineage.given] == [run_event(1)]


def test_what_its_door_refused_stays_refused() -> None:
    """A run event that was posted as a batch, or in an encoding nobody knows, is not judged anew by its bytes."""
    refused = Rejected(Code.NOT_AN_OBJECT, "a batch is a JSON array of events")
    received = Received(run_event(1), Source.BATCH, None, 1_764_410_000.0, refused=refused)
    door = Door()
    assert door.hand(backlog.message(received, None)) == []
    assert not door.lineage.given
    assert [(kept.raw, rejected) for kept, rejected in door.quarantine.kept] == [(run_event(1), refused)]


def test_what_cannot_be_quarantined_comes_again() -> None:
    door = Door()
    door.quarantine.away = True
    assert door.hand(_message(b"{bad"), _message(run_event(1))) == ["message-0"]
