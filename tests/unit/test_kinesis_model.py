"""The Kinesis door against Lambda's rules of redelivery, for every arrangement of records that hypothesis can think of.

The rules are written down here once more, independently of the local system (AWS Lambda developer guide, "Using Lambda
to process records from Amazon Kinesis Data Streams": checkpoints, ReportBatchItemFailures, BisectBatchOnFunctionError,
MaximumRecordAgeInSeconds, OnFailure).
"""

from __future__ import annotations

import base64
import gzip
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.memory import Remembering
from adapter.model import Cause, Deferred, Outcome, RunEvent
from local.kpl import aggregate
from tests.fakes import FakeQuarantine, FakeTelemetry, delivered, run_event

LANES = 3


@dataclass(frozen=True)
class Event:
    """What is written: of which run, good or not, and how often DataZone says *not now* before it takes it."""

    run: int
    good: bool
    waits: int


@dataclass(frozen=True)
class Record:
    """A stream record: one event, plain or gzipped, or an aggregate of several."""

    events: tuple[Event, ...]
    aggregated: bool
    squeezed: bool


@dataclass(frozen=True)
class Weather:
    """What else happens: invocations that die before they answer, the first ones without a quarantine, an age limit."""

    dying: frozenset[int] = frozenset()
    without_quarantine: int = 0
    oldest: int | None = None


class Killed(BaseException):
    """The process is gone; no handler sees this."""


@dataclass
class World:
    """A shard, Lambda before it, DataZone and the quarantine behind the door."""

    records: list[Record]
    weather: Weather
    raws: list[list[bytes]] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)
    refusals: dict[bytes, int] = field(default_factory=dict)
    given_up: list[int] = field(default_factory=list)
    invocations: int = 0

    def __post_init__(self) -> None:
        """Write the records and build the door."""
        for place, record in enumerate(self.records):
            self.raws.append([_raw(place, number, event) for number, event in enumerate(record.events)])
            for raw, event in zip(self.raws[-1], record.events, strict=True):
                self.refusals[raw] = event.waits
        self.quarantine = FakeQuarantine()
        ingest = Ingest(Remembering(self), self.quarantine, FakeTelemetry())
        self.door = KinesisDoor(ingest, Lanes(ingest, LANES, 10.0))

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Answer as DataZone does."""
        del deadline
        if self.refusals[event.raw]:
            self.refusals[event.raw] -= 1
            return Deferred(Cause.THROTTLED, event.client_token)
        self.taken.append(event.raw)
        return delivered(event)

    def settled(self) -> set[bytes]:
        """Give what needs no further try."""
        return set(self.taken) | {received.raw for received, _ in self.quarantine.kept}

    # ---- Lambda ----

    def drain(self, size: int) -> None:
        """Read the shard to its end, `size` records at a time."""
        at = 0
        while at < len(self.records):
            at = self.batch(at, min(size, len(self.records) - at))
            assert self.invocations < 500, "it does not end"

    def batch(self, at: int, size: int) -> int:
        """Work on records from `at` until this batch is done or split; give where to go on."""
        first = at
        while at < first + size:
            if self.too_old(at):
                self.given_up.append(at)
                at += 1
                continue
            rest = first + size - at
            try:
                reported = self.invoke(at, rest)
            except Killed:
                if rest > 1:  # BisectBatchOnFunctionError
                    half = self.batch(at, rest // 2)
                    return self.batch(half, first + size - half)
                continue
            at = first + size if reported is None else at + reported
        return at

    def too_old(self, at: int) -> bool:
        return self.weather.oldest is not None and self.invocations > self.weather.oldest + at

    def invoke(self, at: int, size: int) -> int | None:
        """Invoke the function; give which of the batch's records it reported, or None for success."""
        self.invocations += 1
        self.quarantine.away = self.invocations <= self.weather.without_quarantine
        answer = self.door({"Records": [self.envelope(place) for place in range(at, at + size)]}, Context())
        if self.invocations in self.weather.dying:
            raise Killed
        failures = answer["batchItemFailures"]
        if not failures:
            self.check_done(at, at + size)
            return None
        numbers = [int(failure["itemIdentifier"]) for failure in failures]
        assert all(at <= number < at + size for number in numbers)
        self.check_reported(at, min(numbers))
        return min(numbers) - at

    def check_done(self, start: int, end: int) -> None:
        """Hold a success to its promise: everything in the batch is in its place."""
        assert {raw for place in range(start, end) for raw in self.raws[place]} <= self.settled()

    def check_reported(self, at: int, lowest: int) -> None:
        """See that what comes before the lowest is done for ever, and that the lowest itself is not."""
        self.check_done(at, lowest)
        assert set(self.raws[lowest]) - self.settled()

    def envelope(self, place: int) -> dict[str, Any]:
        record = self.records[place]
        squeeze = gzip.compress if record.squeezed else bytes
        parts = [("k", squeeze(raw)) for raw in self.raws[place]]
        data = aggregate(parts) if record.aggregated else parts[0][1]
        encoded = base64.b64encode(data).decode()
        return {"kinesis": {"sequenceNumber": str(place), "data": encoded, "approximateArrivalTimestamp": 1.0}}


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def _raw(place: int, number: int, event: Event) -> bytes:
    raw = run_event(event.run, place=place, number=number)
    return raw if event.good else raw.replace(b'"eventTime"', b'"noTime"')


_events = st.builds(
    Event,
    run=st.integers(1, 3),
    good=st.sampled_from([True, True, True, False]),
    waits=st.sampled_from([0, 0, 0, 1, 2, 5]),
)
_calm = st.builds(Event, run=st.integers(1, 3), good=st.booleans(), waits=st.just(0))


def _records(events: st.SearchStrategy[Event]) -> st.SearchStrategy[list[Record]]:
    lone = st.builds(Record, st.tuples(events), st.just(value=False), st.booleans())
    many = st.builds(Record, st.lists(events, max_size=4).map(tuple), st.just(value=True), st.booleans())
    return st.lists(lone | many, max_size=8)


_weather = st.builds(Weather, dying=st.frozensets(st.integers(1, 12), max_size=4), without_quarantine=st.integers(0, 3))


def _in_their_places(world: World) -> None:
    """Each event is in exactly one place: good ones in DataZone, once, with their bytes; bad ones in quarantine."""
    lost = {raw for place in world.given_up for raw in world.raws[place]}
    good = [raw for place, record in enumerate(world.records) for raw in _good(world, place, record)]
    bad = {raw for raws in world.raws for raw in raws} - set(good)
    kept = {received.raw for received, _ in world.quarantine.kept}
    assert len(world.taken) == len(set(world.taken))
    assert set(world.taken) <= set(good)
    assert set(good) - set(world.taken) <= lost
    assert kept <= bad
    assert bad - kept <= lost


def _good(world: World, place: int, record: Record) -> list[bytes]:
    return [raw for raw, event in zip(world.raws[place], record.events, strict=True) if event.good]


def _in_order(world: World) -> None:
    """Within a run, what DataZone took came in the order it was written in."""
    for run in (1, 2, 3):
        written = [
            raw
            for place, record in enumerate(world.records)
            for raw, event in zip(world.raws[place], record.events, strict=True)
            if event.run == run and event.good
        ]
        took = [raw for raw in world.taken if raw in written]
        assert took == [raw for raw in written if raw in took]


@given(_records(_events), st.integers(1, 6), _weather)
@settings(max_examples=300)
def test_everything_ends_in_its_place_and_in_order(records: list[Record], size: int, weather: Weather) -> None:
    world = World(records, weather)
    world.drain(size)
    assert world.given_up == []
    _in_their_places(world)
    _in_order(world)


@given(_records(_calm), st.integers(1, 6))
def test_no_good_event_is_given_again_because_of_a_bad_neighbour(records: list[Record], size: int) -> None:
    """Where DataZone takes everything there is no redelivery at all, however many bad ones there are and wherever."""
    world = World(records, Weather())
    world.drain(size)
    assert world.invocations == -(-len(records) // size)
    assert sorted(world.taken) == sorted(
        raw for place, record in enumerate(records) for raw in _good(world, place, record)
    )
    _in_their_places(world)
    _in_order(world)


@given(_records(_events), st.integers(1, 6), _weather, st.integers(1, 4))
@settings(max_examples=200)
def test_what_grows_too_old_goes_to_the_destination_and_nothing_else_does(
    records: list[Record], size: int, weather: Weather, oldest: int
) -> None:
    """Lambda gives up on whole records; the shard goes on behind them, and the order of what arrives still holds."""
    world = World(records, Weather(weather.dying, weather.without_quarantine, oldest))
    world.drain(size)
    _in_their_places(world)
    _in_order(world)


@given(_records(_events), st.integers(1, 6))
def test_an_outage_ends_and_then_everything_arrives(records: list[Record], size: int) -> None:
    """For a while DataZone takes nothing; every record is given again until it does."""
    world = World(records, Weather())
    for raw in world.refusals:
        world.refusals[raw] += 3
    world.drain(size)
    _in_their_places(world)
    _in_order(world)


def test_the_model_notices_a_door_that_forgets() -> None:
    """The checks above can fail: a door that reports nothing is caught at its first deferral."""
    world = World([Record((Event(1, good=True, waits=1),), aggregated=False, squeezed=False)], Weather())
    door, world.door = world.door, None  # type: ignore[assignment]  # replaced at once

    def forgetful(event: Any, context: Any) -> dict[str, list[dict[str, str]]]:  # noqa: ANN401 - as the door has it
        door(event, context)
        return {"batchItemFailures": []}

    world.door = forgetful  # type: ignore[assignment]  # the same call
    try:
        world.drain(1)
    except AssertionError:
        return
    raise AssertionError("a lost event went unnoticed")
