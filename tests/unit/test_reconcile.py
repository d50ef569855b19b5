"""Every failure of DataZone's processing is found once, whatever is slow, away or broken off meanwhile."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from adapter import reconcile
from adapter.model import Cause, Code, Received, Rejected, RunEvent
from adapter.processing import Listed, Status, UnansweredError
from adapter.reconcile import Reconciliation, Seen
from adapter.reconcile_telemetry import NAMED, OTHER, ReconcileTelemetry, most
from tests.fakes import FakeQuarantine, run_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter.found import Position

HOUR, DAY = 3600.0, 24 * 3600.0
NOW = 1_800_000_000.0


@dataclass
class Event:
    status: Status
    created_at: float
    raw: bytes


@dataclass
class FakeProcessing:
    """A DataZone of `events` by id; `gone` have no bytes to be got, and `throttles` says when listing is refused."""

    events: dict[str, Event] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    throttles: bool = False
    got: list[str] = field(default_factory=list)

    def listed(self, status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        del deadline
        for identifier, event in self.events.items():
            if event.status is status and after < event.created_at < before:
                yield Listed(identifier, event.created_at, json.loads(event.raw)["job"]["namespace"])
        if self.throttles:
            raise UnansweredError(Cause.THROTTLED)

    def raw(self, lineage_event_id: str, deadline: float) -> bytes:
        del deadline
        if lineage_event_id in self.gone:
            raise UnansweredError(Cause.UNEXPECTED)
        self.got.append(lineage_event_id)
        return self.events[lineage_event_id].raw


@dataclass
class FakeMemory:
    kept: Position | None = None
    found: dict[str, str] = field(default_factory=dict)
    asked: list[float] = field(default_factory=list)

    def position(self) -> Position | None:
        return self.kept

    def save(self, position: Position) -> None:
        self.kept = position

    def ids(self, after: float, before: float) -> frozenset[str]:
        del before
        self.asked.append(after)
        return frozenset(self.found)

    def add(self, lineage_event_id: str, created_at: float, quarantine_key: str) -> None:
        del created_at
        self.found[lineage_event_id] = quarantine_key


@dataclass
class FakeRecords:
    failures: list[str | None] = field(default_factory=list)
    left: list[tuple[str | None, Cause]] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    passes: list[tuple[Seen, bool]] = field(default_factory=list)

    def begin(self, context: object) -> None:
        pass

    def failed(self, received: Received, event: RunEvent | None, rejected: Rejected) -> None:
        del received, event
        self.failures.append(rejected.lineage_event_id)

    def unanswered(self, lineage_event_id: str | None, cause: Cause) -> None:
        self.left.append((lineage_event_id, cause))

    def fault(self, error: Exception) -> None:
        self.faults.append(error)

    def passed(self, seen: Seen, *, complete: bool) -> None:
        self.passes.append((seen, complete))


class Minute:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


class World:
    """Everything a pass needs, and a clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOW
        self.datazone = FakeProcessing()
        self.memory = FakeMemory()
        self.quarantine = FakeQuarantine()
        self.records = FakeRecords()

    def taken(self, status: Status, ago: float, namespace: str = "retail") -> str:
        identifier = f"{len(self.datazone.events):014d}"
        raw = run_event(len(self.datazone.events), job={"namespace": namespace, "name": "orders"})
        self.datazone.events[identifier] = Event(status, self.now - ago, raw)
        return identifier

    def passes(self) -> dict[str, Any]:
        made = Reconciliation(self.datazone, self.memory, self.quarantine, self.records, clock=lambda: self.now)(
            {}, Minute()
        )
        assert self.records.faults == []
        return made


@pytest.fixture
def world() -> World:
    return World()


def test_a_failure_is_kept_with_its_bytes_and_its_id(world: World) -> None:
    identifier = world.taken(Status.FAILED, ago=60)
    assert world.passes() == {"complete": True, "failed": 1, "unfinished": 0}
    ((received, rejected),) = world.quarantine.kept
    assert received.raw == world.datazone.events[identifier].raw
    assert received.received_at == NOW - 60
    assert (rejected.code, rejected.lineage_event_id) == (Code.FAILED_IN_DATAZONE, identifier)
    assert rejected.job is not None
    assert rejected.job.name == "orders"
    assert world.memory.found == {identifier: f"quarantine/{Code.FAILED_IN_DATAZONE}/x.event"}


def test_it_is_found_once_in_windows_that_overlap(world: World) -> None:
    identifier = world.taken(Status.FAILED, ago=60)
    for _ in range(3):
        world.passes()
        world.now += 300
    assert world.records.failures == [identifier]


def test_nothing_is_missed_while_the_function_does_not_run(world: World) -> None:
    """For a month nobody looked; what DataZone took a month ago is found all the same."""
    world.passes()
    early = world.taken(Status.FAILED, ago=-60)
    world.now += 30 * DAY
    late = world.taken(Status.FAILED, ago=60)
    world.passes()
    assert world.records.failures == [early, late]


def test_the_first_pass_looks_a_day_back_and_not_for_ever(world: World) -> None:
    world.taken(Status.FAILED, ago=DAY + 60)
    found = world.taken(Status.FAILED, ago=DAY - 60)
    world.passes()
    assert world.records.failures == [found]


def test_what_fails_after_hours_of_processing_is_found(world: World) -> None:
    """The settled moment waits for what is unfinished, however long ago that began."""
    slow = world.taken(Status.PROCESSING, ago=60)
    for _ in range(40):
        world.passes()
        world.now += 300
    world.now += 20 * HOUR
    world.passes()
    assert world.memory.kept is not None
    assert world.memory.kept.settled < world.datazone.events[slow].created_at
    world.datazone.events[slow].status = Status.FAILED
    world.now += 300
    world.passes()
    assert world.records.failures == [slow]


def test_a_pass_right_after_another_asks_for_no_time_that_ends_before_it_begins(world: World) -> None:
    world.passes()
    asked: list[Status] = []
    listed = world.datazone.listed

    def noting(status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        assert after < before
        asked.append(status)
        return listed(status, after, before, deadline)

    world.datazone.listed = noting  # type: ignore[method-assign]  # to see what is asked
    world.passes()
    assert asked == [Status.FAILED]


def test_what_is_unfinished_for_long_is_counted_and_what_is_fresh_is_not(world: World) -> None:
    world.taken(Status.REQUESTED, ago=reconcile.UNFINISHED + 60, namespace="slow")
    world.taken(Status.PROCESSING, ago=reconcile.UNFINISHED + 60, namespace="slow")
    world.taken(Status.PROCESSING, ago=60)
    assert world.passes()["unfinished"] == 2
    ((seen, _),) = world.records.passes
    assert seen.unfinished == {"slow": 2}


def test_what_never_ends_is_given_up_on_after_a_week(world: World) -> None:
    world.taken(Status.PROCESSING, ago=60)
    world.now += reconcile.UNFINISHED
    assert world.passes()["unfinished"] == 1
    world.now += reconcile.HELD + 60
    assert world.passes()["unfinished"] == 1
    world.now += 300
    assert world.passes()["unfinished"] == 0


def test_once_in_an_hour_a_pass_looks_back_for_a_day(world: World) -> None:
    """An event of the day before may come into the list late, where that goes by the event's own time."""
    world.passes()
    world.now += 300
    late = world.taken(Status.FAILED, ago=14 * HOUR)
    world.passes()
    assert world.records.failures == []
    world.now += reconcile.LOOK_BACK_EVERY
    world.passes()
    assert world.records.failures == [late]


def test_a_pass_that_is_broken_off_settles_nothing_and_the_next_one_does_the_rest(world: World) -> None:
    first = world.taken(Status.FAILED, ago=60)
    world.datazone.throttles = True
    assert world.passes()["complete"] is False
    assert world.memory.kept is None
    assert world.records.left == [(None, Cause.THROTTLED)]
    world.datazone.throttles = False
    second = world.taken(Status.FAILED, ago=60)
    assert world.passes()["complete"] is True
    assert set(world.records.failures) == {first, second}
    assert len(world.records.failures) == 2


def test_a_failure_that_cannot_be_got_holds_up_no_other_and_is_tried_again(world: World) -> None:
    stuck, other = world.taken(Status.FAILED, ago=60), world.taken(Status.FAILED, ago=50)
    world.datazone.gone = {stuck}
    assert world.passes()["complete"] is False
    assert world.records.failures == [other]
    assert world.records.left == [(stuck, Cause.UNEXPECTED)]
    world.datazone.gone = set()
    assert world.passes()["complete"] is True
    assert world.records.failures == [other, stuck]


def test_a_failure_is_not_known_before_it_is_kept(world: World) -> None:
    world.taken(Status.FAILED, ago=60)
    world.quarantine.away = True
    assert world.passes() == {"complete": False, "failed": 0, "unfinished": 0}
    assert world.memory.found == {}
    world.quarantine.away = False
    assert world.passes()["failed"] == 1


def test_what_nobody_foresaw_ends_the_pass_and_is_said(world: World) -> None:
    world.datazone.listed = None  # type: ignore[method-assign, assignment]  # broken on purpose
    made = Reconciliation(world.datazone, world.memory, world.quarantine, world.records)({}, Minute())
    assert made["complete"] is False
    assert isinstance(world.records.faults[0], TypeError)
    assert [complete for _, complete in world.records.passes] == [False]


def test_a_pass_leaves_itself_time_to_answer(world: World) -> None:
    deadlines: list[float] = []

    def listed(status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        del status, after, before
        deadlines.append(deadline)
        return iter(())

    world.datazone.listed = listed  # type: ignore[method-assign]  # to see what it is given
    world.passes()
    assert all(deadline <= time.monotonic() + 60 - reconcile.ANSWER for deadline in deadlines)


# ---- What is said of it ----


@pytest.fixture
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"reconcile-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")


def _metrics(lines: list[dict[str, Any]]) -> dict[str, float]:
    return {
        metric["Name"]: sum(line[metric["Name"]])
        for line in lines
        if "_aws" in line
        for directive in line["_aws"]["CloudWatchMetrics"]
        for metric in directive["Metrics"]
    }


@pytest.mark.usefixtures("_environment")
def test_a_failure_is_a_line_and_a_count_and_says_nothing_of_the_event(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.datazone.events["abc"] = Event(Status.FAILED, NOW - 60, run_event(secret="SECRET"))
    telemetry = ReconcileTelemetry()
    Reconciliation(world.datazone, world.memory, world.quarantine, telemetry, clock=lambda: NOW)({}, Minute())
    written = capsys.readouterr().out
    assert "SECRET" not in written
    lines = [json.loads(line) for line in written.splitlines()]
    (failure,) = (line for line in lines if line.get("message") == "failed in datazone")
    assert failure["level"] == "ERROR"
    assert (failure["lineage_event_id"], failure["job_name"]) == ("abc", "orders.daily")
    assert len(failure["client_token"]) == 64
    (summary,) = (line for line in lines if line.get("message") == "reconciled")
    assert (summary["complete"], summary["failed_by_namespace"]) == (True, {"retail": 1})
    assert failure["emitter"] == "example.com/retail/1.0"
    assert summary["failed_by_emitter"] == {"example.com/retail/1.0": 1}
    assert _metrics(lines) == {"DataZoneFailed": 1, "ReconcileComplete": 1, "DataZoneUnfinished": 0}


@pytest.mark.usefixtures("_environment")
def test_a_pass_that_saw_too_little_says_so_and_tells_no_level(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.datazone.throttles = True
    Reconciliation(world.datazone, world.memory, world.quarantine, ReconcileTelemetry())({}, Minute())
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert _metrics(lines) == {"ReconcileIncomplete": 1}
    assert lines[0]["cause"] == "throttled"


@pytest.mark.usefixtures("_environment")
def test_an_unforeseen_exception_is_told_by_kind_and_place(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        "x".index("SECRET")
    except ValueError as error:
        ReconcileTelemetry().fault(error)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (lines[0]["exception"], _metrics(lines)) == ("ValueError", {"Fault": 1})
    assert "SECRET" not in json.dumps(lines)


def test_no_line_names_more_namespaces_than_one_can_read(world: World) -> None:
    for number in range(NAMED + 5):
        for _ in range(number + 1):
            world.taken(Status.FAILED, ago=60, namespace=f"n{number:02d}")
    world.passes()
    ((seen, _),) = world.records.passes
    named = most(seen.failed)
    assert len(named) == NAMED + 1
    assert named[OTHER] == 1 + 2 + 3 + 4 + 5
    assert sum(named.values()) == seen.failed.total()
