"""Order within a run, runs side by side, and a stop when nothing gets through."""

from __future__ import annotations

import threading
import time
from threading import Timer

from hypothesis import given
from hypothesis import strategies as st

from adapter.ingest import Ingest, Judged
from adapter.lanes import Lanes
from adapter.model import Cause, Deferred, Delivered, Outcome, Received, Rejected, RunEvent, Source
from tests.fakes import FakeLineage, FakeQuarantine, FakeTelemetry, delivered, run_event

FAR = 1e9


def _received(run: int, step: int = 0) -> Received:
    return Received(run_event(run, step=step), Source.KINESIS)


def _lanes(lineage: FakeLineage, lanes: int = 4) -> tuple[Lanes, FakeTelemetry]:
    told = FakeTelemetry()
    return Lanes(Ingest(lineage, FakeQuarantine(), told), lanes, patience=10.0), told


@given(st.lists(st.integers(0, 4), max_size=30))
def test_outcomes_come_in_the_order_of_the_events_and_each_run_keeps_its_own(runs: list[int]) -> None:
    lineage = FakeLineage()
    lanes, told = _lanes(lineage)
    received = [
        _received(run, step) if run else Received(b"bad %d" % step, Source.KINESIS) for step, run in enumerate(runs)
    ]
    outcomes = lanes.run(received, FAR)
    assert [isinstance(outcome, Rejected) for outcome in outcomes] == [run == 0 for run in runs]
    for run in range(1, 5):
        sent = [event.raw for event in lineage.given if event.run_id.endswith(str(run))]
        assert sent == [one.raw for one, its_run in zip(received, runs, strict=True) if its_run == run]
    assert sorted(one.raw for one, _, _ in told.told) == sorted(one.raw for one in received)


def test_an_event_that_has_to_wait_stops_its_own_run_and_no_other() -> None:
    def script(event: RunEvent) -> Outcome:
        waits = b'"step": 1' in event.raw and event.run_id.endswith("1")
        return Deferred(Cause.THROTTLED, event.client_token) if waits else delivered(event)

    lineage = FakeLineage(script)
    lanes, _ = _lanes(lineage)
    outcomes = lanes.run([_received(run, step) for step in range(3) for run in (1, 2)], FAR)
    causes = [outcome.cause if isinstance(outcome, Deferred) else None for outcome in outcomes]
    assert causes == [None, None, Cause.THROTTLED, None, Cause.NOT_STARTED, None]
    assert len(lineage.given) == 5


def test_when_nothing_gets_through_no_more_is_started() -> None:
    lineage = FakeLineage(lambda event: Deferred(Cause.UNAVAILABLE, event.client_token))
    lanes, told = _lanes(lineage, lanes=2)
    outcomes = lanes.run([_received(run) for run in range(50)], FAR)
    assert all(isinstance(outcome, Deferred) for outcome in outcomes)
    assert len(lineage.given) < 50
    assert len(told.told) == 50


def test_runs_that_wait_now_and_then_do_not_stop_the_others() -> None:
    """Three at a time, one of which waits: never three in a row, whichever lane says first what became of its own."""
    meeting = threading.Barrier(3, timeout=60)

    def script(event: RunEvent) -> Outcome:
        meeting.wait()
        waits = int(event.run_id[-2:]) % 3 == 0
        return Deferred(Cause.THROTTLED, event.client_token) if waits else delivered(event)

    lanes, _ = _lanes(FakeLineage(script), lanes=3)
    outcomes = lanes.run([_received(run) for run in range(60)], FAR)
    assert sum(isinstance(outcome, Delivered) for outcome in outcomes) == 40


def test_as_many_events_as_there_are_lanes_are_under_way_at_once() -> None:
    meeting = threading.Barrier(4, timeout=60)

    def script(event: RunEvent) -> Outcome:
        meeting.wait()
        return delivered(event)

    lanes, _ = _lanes(FakeLineage(script), lanes=4)
    outcomes = lanes.run([_received(run) for run in range(8)], FAR)
    assert all(isinstance(outcome, Delivered) for outcome in outcomes)


def test_judging_goes_no_further_ahead_than_a_waiting_event_for_each_lane() -> None:
    """It would take the processor from the deliveries, and lose nothing by waiting."""
    go = threading.Event()
    judged: list[Received] = []
    before: list[int] = []

    class Counting(Ingest):
        def judge(self, received: Received) -> Judged:
            judged.append(received)
            return super().judge(received)

    def look() -> None:
        before.append(len(judged))
        go.set()

    def script(event: RunEvent) -> Outcome:
        go.wait(10)
        return delivered(event)

    lanes = Lanes(Counting(FakeLineage(script), FakeQuarantine(), FakeTelemetry()), 2, patience=10.0)
    Timer(0.2, look).start()
    outcomes = lanes.run([_received(run) for run in range(20)], FAR)
    # One in each lane, one waiting for each, and the one that would be too many.
    assert before[0] <= 2 + 2 + 1
    assert len(judged) == 20
    assert all(isinstance(outcome, Delivered) for outcome in outcomes)


def test_each_event_gets_its_patience_and_never_more_than_the_deadline() -> None:
    deadlines: list[float] = []

    class Noting(FakeLineage):
        def deliver(self, event: RunEvent, deadline: float) -> Outcome:
            deadlines.append(deadline)
            return super().deliver(event, deadline)

    lanes = Lanes(Ingest(Noting(), FakeQuarantine(), FakeTelemetry()), 1, patience=10.0)
    now = time.monotonic()
    lanes.run([_received(1)], now + 3)
    lanes.run([_received(1)], now + 3_600)
    assert deadlines[0] == now + 3
    assert now + 10 <= deadlines[1] < now + 3_600


def test_nothing_to_do_is_done() -> None:
    assert _lanes(FakeLineage())[0].run([], FAR) == []


def test_anything_can_be_done_in_the_lanes() -> None:
    assert _lanes(FakeLineage())[0].map(str, range(20)) == [str(number) for number in range(20)]
