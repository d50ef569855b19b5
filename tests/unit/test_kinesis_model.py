"""The Kinesis door against Lambda's rules of redelivery, for every arrangement that hypothesis can think of.

The rules are written down here once more, independently of the local system (AWS Lambda developer guide, "Process
Amazon Kinesis Data Streams records with Lambda", "Reporting batch item failures for Kinesis"): order within a shard,
checkpoints, bisection, the age at which Lambda gives up, the destination for what it gave up.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.memory import Remembering
from adapter.model import Cause, Code, Deferred, Outcome, Received, Rejected, RunEvent
from local.kpl import aggregate
from tests.fakes import FakeTelemetry, delivered, run_event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Door = Callable[[Any, Any], dict[str, list[dict[str, str]]]]

SHARDS = 2
MAX_AGE = 10


@dataclass(frozen=True)
class Event:
    """What is written. `run` is None for what has none; only `good` ones belong into DataZone."""

    raw: bytes
    run: int | None
    good: bool


@dataclass(frozen=True)
class Record:
    """A stream record and the events in it: one, or those of an aggregate."""

    number: int
    arrived: int
    data: bytes
    events: tuple[Event, ...]

    def envelope(self) -> dict[str, Any]:
        data = base64.b64encode(self.data).decode()
        return {"kinesis": {"sequenceNumber": str(self.number), "data": data, "approximateArrivalTimestamp": 1.0}}


class Killed(BaseException):
    """The process is gone; no handler sees this."""


# ---- Lambda --------------------------------------------------------------------------------------------------------


class Shard:
    """One shard and Lambda before it. `pieces` are batches, or what is left of one, that are not finished yet."""

    def __init__(self, size: int, *, bisects: bool) -> None:
        self.size = size
        self.bisects = bisects
        self.written: list[Record] = []
        self.unread: deque[Record] = deque()
        self.pieces: deque[Sequence[Record]] = deque()
        self.destination: list[Record] = []
        self.handed: Counter[int] = Counter()

    def write(self, record: Record) -> None:
        self.written.append(record)
        self.unread.append(record)

    def poll(self, invoke: Callable[[Sequence[Record]], list[str | None]], now: int) -> None:
        """Invoke the function once, if there is anything to give it."""
        if not self.pieces:
            self.pieces.append([self.unread.popleft() for _ in range(min(self.size, len(self.unread)))])
        piece = self._young(self.pieces.popleft(), now)
        if piece:
            self.handed.update(record.number for record in piece)
            try:
                left = self._left(piece, invoke(piece))
            except Killed:
                left = self._failed(piece)
            self.pieces.extendleft(reversed(left))

    def idle(self) -> bool:
        return not self.pieces and not self.unread

    def _young(self, piece: Sequence[Record], now: int) -> Sequence[Record]:
        """MaximumRecordAgeInSeconds: what is older is not tried again but written to the destination."""
        self.destination += [record for record in piece if now - record.arrived > MAX_AGE]
        return [record for record in piece if now - record.arrived <= MAX_AGE]

    def _left(self, piece: Sequence[Record], reported: list[str | None]) -> list[Sequence[Record]]:
        """ReportBatchItemFailures: go on at the lowest; what is in no such list is done; nonsense fails the batch."""
        if not reported:
            return []
        if not set(reported) <= {str(record.number) for record in piece}:
            return self._failed(piece)
        lowest = min(int(number) for number in reported if number)
        return [[record for record in piece if record.number >= lowest]]

    def _failed(self, piece: Sequence[Record]) -> list[Sequence[Record]]:
        """BisectBatchOnFunctionError: both halves by themselves, in order; or else all of it again."""
        half = len(piece) // 2
        return [piece[:half], piece[half:]] if self.bisects and half else [piece]


# ---- What is behind the door ---------------------------------------------------------------------------------------


class World:
    """DataZone and the quarantine. `waits` is how often DataZone says *not now* to an event before it takes it."""

    def __init__(self) -> None:
        self.waits: Counter[bytes] = Counter()
        self.stored: dict[str, bytes] = {}
        self.kept: dict[bytes, Code] = {}
        self.datazone_away = self.quarantine_away = False
        self.troubled = False

    def take(self, event: RunEvent) -> Outcome:
        """Answer as DataZone does: once for each token, however often it comes."""
        if self.datazone_away or self.waits[event.raw]:
            self.troubled = True
            self.waits[event.raw] = max(self.waits[event.raw] - 1, 0)
            if self.waits[event.raw] % 2:
                raise ZeroDivisionError  # a bug of ours is a reason to wait as well
            return Deferred(Cause.THROTTLED, event.client_token)
        if b"refuse me" in event.raw:
            return Rejected(Code.REFUSED_BY_DATAZONE, "DataZone refused the event")
        assert self.stored.setdefault(event.client_token, event.raw) == event.raw
        return delivered(event)

    def keep(self, received: Received, rejected: Rejected) -> Rejected | Deferred:
        if self.quarantine_away:
            self.troubled = True
            return Deferred(Cause.QUARANTINE_UNREACHABLE)
        assert self.kept.setdefault(received.raw, rejected.code) is rejected.code
        return rejected


class Container:
    """A process with the door in it. It can die after so many effects; what it remembers goes with it."""

    def __init__(self, world: World, lanes: int) -> None:
        self.world = world
        self.breath: int | None = None
        self.delivered: set[bytes] = set()
        self.quarantined: set[bytes] = set()
        self.lock = Lock()
        ingest = Ingest(Remembering(self), self, FakeTelemetry())
        self.door: Door = KinesisDoor(ingest, Lanes(ingest, lanes, 10.0))

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        del deadline
        with self.lock:
            self._breathe()
            outcome = self.world.take(event)
            self.delivered |= set() if isinstance(outcome, Deferred | Rejected) else {event.raw}
            return outcome

    def keep(self, received: Received, rejected: Rejected) -> Rejected | Deferred:
        with self.lock:
            self._breathe()
            outcome = self.world.keep(received, rejected)
            self.quarantined |= set() if isinstance(outcome, Deferred) else {received.raw}
            return outcome

    def _breathe(self) -> None:
        if self.breath is not None:
            if not self.breath:
                raise Killed
            self.breath -= 1

    def invoke(self, piece: Sequence[Record]) -> list[str | None]:
        """Give the numbers reported: of the lowest record that is not settled, and of none if all are."""
        self.quarantined.clear()
        answer = self.door({"Records": [record.envelope() for record in piece]}, Context())
        if self.breath is not None:
            raise Killed  # before the answer was out
        settled = self.delivered | self.quarantined
        unsettled = [str(one.number) for one in piece if not {event.raw for event in one.events} <= settled]
        reported = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
        assert reported == unsettled[:1]
        return list(reported)


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


# ---- What is written -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """An event to come: of which kind and run, and how often DataZone will not take it at once."""

    kind: str
    run: int
    waits: int


def _event(part: Part, serial: int) -> Event:
    good = run_event(part.run, serial=serial)
    bad = {
        "not json": b"{bad %d" % serial,
        "not an event": b'{"job": {"serial": %d}}' % serial,
        "torn gzip": gzip.compress(b"%d" % serial, mtime=0)[:-4],
        "broken": good.replace(b'"eventTime"', b'"noTime"'),
        "refused": run_event(part.run, serial=serial, why="refuse me"),
    }
    return Event(bad.get(part.kind, good), part.run if part.kind in {"good", "refused"} else None, part.kind == "good")


def _packed(events: Sequence[Event], packing: str) -> tuple[bytes, tuple[Event, ...]]:
    if packing in {"aggregate", "torn aggregate"}:
        data = aggregate([(str(place), event.raw) for place, event in enumerate(events)])
        if packing == "aggregate":
            return data, tuple(events)
        return data[:-1], (Event(data[:-1], None, good=False),)
    squeeze = gzip.compress if packing == "gzip" else bytes
    return squeeze(events[0].raw), (events[0],)


_bad = st.sampled_from(["not json", "not an event", "torn gzip", "broken", "refused"])
_runs = st.integers(1, 3)
_part = st.builds(Part, st.just("good") | _bad, _runs, st.sampled_from([0, 0, 0, 1, 2, 5]))
_packing = st.sampled_from(["plain", "plain", "gzip", "aggregate", "aggregate", "torn aggregate"])
_parts = st.lists(_part, min_size=1, max_size=4)


class Stream:
    """The shards, what is behind the door and the container of each shard."""

    def __init__(self, size: int, lanes: int, *, bisects: bool) -> None:
        self.world = World()
        self.lanes = lanes
        self.shards = [Shard(size, bisects=bisects) for _ in range(SHARDS)]
        self.containers = [Container(self.world, lanes) for _ in range(SHARDS)]
        self.now = self.numbers = self.serials = 0

    def write(self, shard: int, parts: Sequence[Part], packing: str) -> None:
        events = []
        for part in parts:
            self.serials += 1
            # A run is on one shard, as its partition key is.
            events.append(_event(Part(part.kind, part.run * SHARDS + shard, part.waits), self.serials))
            self.world.waits[events[-1].raw] = part.waits
        self.append(shard, *_packed(events, packing))

    def append(self, shard: int, data: bytes, events: tuple[Event, ...]) -> None:
        self.numbers += 1
        self.shards[shard].write(Record(self.numbers, self.now, data, events))

    def poll(self, shard: int, dies_after: int | None = None) -> None:
        container = self.containers[shard]
        container.breath = dies_after
        self.shards[shard].poll(container.invoke, self.now)
        if dies_after is not None:
            self.world.troubled = True
            self.containers[shard] = Container(self.world, self.lanes)

    def drain(self) -> None:
        """Let all be well, and poll until everything is done; every poll settles something or one *not now* less."""
        self.world.datazone_away = self.world.quarantine_away = False
        for place, shard in enumerate(self.shards):
            polls = 2 * len(shard.written) + sum(self.world.waits.values())
            for _ in range(polls):
                if not shard.idle():
                    self.poll(place)
            assert shard.idle(), "it does not end"

    # ---- the promises ----

    def nothing_is_in_two_places(self) -> None:
        stored = set(self.world.stored.values())
        assert not stored & self.world.kept.keys()
        for event in self._events():
            assert event.raw not in (self.world.kept if event.good else stored)

    def tokens_are_the_formula_s(self) -> None:
        for token, raw in self.world.stored.items():
            assert token == sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest()

    def runs_are_in_order(self) -> None:
        """Hold what DataZone took for the first time, run by run, to the order it was written in."""
        runs = {event.raw: event.run for event in self._events()}
        arrived: dict[int | None, list[bytes]] = defaultdict(list)
        for raw in self.world.stored.values():
            arrived[runs[raw]].append(raw)
        for run, raws in arrived.items():
            written = iter([event.raw for event in self._events() if event.run == run])
            assert all(raw in written for raw in raws), "not in the order they were written in"

    def everything_is_in_its_place(self) -> None:
        """In DataZone or in quarantine, each where it belongs; elsewhere only in a record that grew too old."""
        stored = set(self.world.stored.values())
        for shard in self.shards:
            for record in shard.written:
                places = [stored if event.good else self.world.kept.keys() for event in record.events]
                there = all(event.raw in place for event, place in zip(record.events, places, strict=True))
                assert there or record in shard.destination
                assert record not in shard.destination or self.now - record.arrived > MAX_AGE

    def calm_means_once(self) -> None:
        """Where nothing had to wait and nothing died, no record was given twice."""
        if not self.world.troubled:
            assert all(times == 1 for shard in self.shards for times in shard.handed.values())

    def _events(self) -> Iterable[Event]:
        return (event for shard in self.shards for record in shard.written for event in record.events)


class AnyDay(RuleBasedStateMachine):
    """Emitters write, Lambda polls, DataZone and the quarantine come and go, processes die, time passes."""

    @initialize(size=st.integers(1, 6), lanes=st.integers(1, 4), bisects=st.booleans())
    def begin(self, size: int, lanes: int, bisects: bool) -> None:  # noqa: FBT001 - hypothesis passes it by name
        self.stream = Stream(size, lanes, bisects=bisects)

    @rule(shard=st.integers(0, SHARDS - 1), records=st.lists(st.tuples(_parts, _packing), min_size=1, max_size=6))
    def write(self, shard: int, records: list[tuple[list[Part], str]]) -> None:
        for parts, packing in records:
            self.stream.write(shard, parts, packing)

    @rule(shard=st.integers(0, SHARDS - 1))
    def write_again(self, shard: int) -> None:
        """Emitters resend: the same bytes are another record."""
        for record in self.stream.shards[shard].written[-1:]:
            self.stream.append(shard, record.data, record.events)

    @rule(shard=st.integers(0, SHARDS - 1), times=st.integers(1, 4))
    def poll(self, shard: int, times: int) -> None:
        for _ in range(times):
            self.stream.poll(shard)

    @rule(shard=st.integers(0, SHARDS - 1), dies_after=st.integers(0, 8))
    def poll_and_die(self, shard: int, dies_after: int) -> None:
        self.stream.poll(shard, dies_after)

    @rule(datazone=st.booleans(), quarantine=st.booleans())
    def go_away(self, datazone: bool, quarantine: bool) -> None:  # noqa: FBT001 - hypothesis passes them by name
        self.stream.world.datazone_away, self.stream.world.quarantine_away = datazone, quarantine

    @rule(hours=st.integers(1, MAX_AGE))
    def let_time_pass(self, hours: int) -> None:
        self.stream.now += hours

    @invariant()
    def promises_kept_at_any_moment(self) -> None:
        if hasattr(self, "stream"):
            self.stream.nothing_is_in_two_places()
            self.stream.runs_are_in_order()
            self.stream.calm_means_once()

    def teardown(self) -> None:
        if hasattr(self, "stream"):
            self.stream.drain()
            self.promises_kept_at_any_moment()
            self.stream.tokens_are_the_formula_s()
            self.stream.everything_is_in_its_place()


AnyDay.TestCase.settings = settings(max_examples=250, stateful_step_count=20)
TestAnyDay = AnyDay.TestCase


@given(st.lists(st.tuples(st.lists(st.builds(Part, st.just("good") | _bad, _runs, st.just(0)), min_size=1), _packing)))
@settings(max_examples=60)
def test_no_good_event_is_given_again_because_of_a_bad_neighbour(records: list[tuple[list[Part], str]]) -> None:
    """Where DataZone takes everything there is no redelivery at all, however many are bad and wherever they are."""
    stream = Stream(size=4, lanes=3, bisects=True)
    for parts, packing in records:
        stream.write(0, parts, packing)
    stream.drain()
    assert not stream.world.troubled
    stream.calm_means_once()
    stream.everything_is_in_its_place()


def _forgets(answer: list[dict[str, str]]) -> list[dict[str, str]]:
    return answer[1:]


def _invents(answer: list[dict[str, str]]) -> list[dict[str, str]]:
    return answer or [{"itemIdentifier": "1"}]


def _fails_everything(answer: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{"itemIdentifier": ""}] if answer else []


@pytest.mark.parametrize("wrong", [_forgets, _invents, _fails_everything])
def test_the_model_notices_a_wrong_answer(wrong: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> None:
    stream = Stream(size=4, lanes=2, bisects=False)
    stream.write(0, [Part("good", 1, 0)], "plain")
    stream.write(0, [Part("good", 2, 1)], "plain")
    door = stream.containers[0].door
    stream.containers[0].door = lambda event, context: {
        "batchItemFailures": wrong(door(event, context)["batchItemFailures"])
    }
    with pytest.raises(AssertionError):
        stream.drain()
