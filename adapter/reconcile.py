"""Reconciliation: what DataZone took and could not process, found, counted and kept, each failure once.

Each pass looks at everything between the last settled moment and now. That moment moves on when a pass has seen all of
it, and never beyond an event that DataZone has not finished, so neither an outage of this function nor a slow
processing hides a failure. What the last pass found already is known by DataZone's id.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from adapter.accept import accept
from adapter.emitter import emitter
from adapter.found import Position
from adapter.model import Cause, Code, Deferred, FormatAssertion, Received, Rejected, RunEvent, Source, Violation
from adapter.processing import Status, UnansweredError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adapter.ingest import Quarantine
    from adapter.processing import Listed

# What DataZone took this long ago and has not finished is counted as unfinished. In seconds, as all here.
UNFINISHED = 15 * 60.0
# For this long an unfinished event holds the settled moment back; then it is given up on, after days of an alarm.
HELD = 7 * 24 * 60 * 60.0
# Once in an hour a pass looks back for a day: whether DataZone's list goes by the time it took an event or by the
# event's own time is not documented, and the backlog delivers for more than 14 hours.
LOOK_BACK = 24 * 60 * 60.0
LOOK_BACK_EVERY = 60 * 60.0
# What is left of the function's time when nothing more is begun.
ANSWER = 10.0


class Processing(Protocol):
    """What DataZone says of the events it took."""

    def listed(self, status: Status, after: float, before: float, deadline: float) -> Iterator[Listed]:
        """Yield the events of that status between two moments."""

    def raw(self, lineage_event_id: str, deadline: float) -> bytes:
        """Give the exact bytes of one."""


class Memory(Protocol):
    """What earlier passes have done."""

    def position(self) -> Position | None:
        """Give the last position."""

    def save(self, position: Position) -> None:
        """Keep the position."""

    def ids(self, after: float, before: float) -> frozenset[str]:
        """Give the ids of the failures found."""

    def add(self, lineage_event_id: str, created_at: float, quarantine_key: str) -> None:
        """Keep that one is found."""


class Records(Protocol):
    """Who is told."""

    def begin(self, context: object) -> None:
        """Note which invocation it is, by Lambda's `context`."""

    def failed(self, received: Received, event: RunEvent | None, rejected: Rejected) -> None:
        """Note a failure, found and kept."""

    def unanswered(self, lineage_event_id: str | None, cause: Cause) -> None:
        """Note that DataZone or the quarantine did not do what was asked, about one event or about all."""

    def fault(self, error: Exception) -> None:
        """Note an exception that nothing foresaw."""

    def passed(self, seen: Seen, *, complete: bool) -> None:
        """Note what a pass has seen."""


class Context(Protocol):
    """What is needed of Lambda's context object."""

    def get_remaining_time_in_millis(self) -> int:
        """Say how long this invocation may still run, in milliseconds."""


@dataclass(slots=True)
class Seen:
    """What a pass has seen: failures that were not known, and what is unfinished for long, by job namespace.

    `emitters` are the same failures by what made the events, as they say themselves.
    `oldest` is when the oldest unfinished event was taken; `left` counts failures that could not be kept this time.
    """

    failed: Counter[str] = field(default_factory=Counter)
    emitters: Counter[str] = field(default_factory=Counter)
    unfinished: Counter[str] = field(default_factory=Counter)
    oldest: float | None = None
    left: int = 0


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One pass after the other."""

    processing: Processing
    memory: Memory
    quarantine: Quarantine
    records: Records
    assertion: FormatAssertion = FormatAssertion.STRICT
    clock: Callable[[], float] = time.time

    def __call__(self, event: Mapping[str, object], context: Context) -> dict[str, object]:
        """Make a pass within the time that `context` gives; say whether it saw everything. Never raises.

        A pass that did not is no loss: the settled moment stays where it is, and what was kept is known.
        """
        del event  # that it is time
        deadline = time.monotonic() + context.get_remaining_time_in_millis() / 1000 - ANSWER
        seen = Seen()
        complete = False
        self.records.begin(context)
        try:
            complete = self._passed(seen, deadline)
        except UnansweredError as error:
            self.records.unanswered(None, error.cause)
        except Exception as error:  # noqa: BLE001 - the next pass comes in any case; this one says why it ended
            self.records.fault(error)
        self.records.passed(seen, complete=complete)
        return {"complete": complete, "failed": seen.failed.total(), "unfinished": seen.unfinished.total()}

    def _passed(self, seen: Seen, deadline: float) -> bool:
        now = self.clock()
        last = self.memory.position()
        looks_back = last is None or now - last.looked_back >= LOOK_BACK_EVERY
        settled = last.settled if last else now
        after = min(settled, now - LOOK_BACK) if looks_back else settled
        self._count_unfinished(seen, after, now - UNFINISHED, deadline)
        known = self.memory.ids(after, now)
        for one in self.processing.listed(Status.FAILED, after, now, deadline):
            if one.lineage_event_id not in known:
                self._found(one, seen, deadline)
        if seen.left:
            return False
        # What DataZone is still busy with may fail after this pass has looked.
        settled = max(min(now - UNFINISHED, (seen.oldest or now) - 1), now - HELD)
        self.memory.save(Position(settled, now if looks_back or last is None else last.looked_back))
        return True

    def _count_unfinished(self, seen: Seen, after: float, before: float, deadline: float) -> None:
        if after >= before:
            return
        for status in (Status.REQUESTED, Status.PROCESSING):
            for one in self.processing.listed(status, after, before, deadline):
                seen.unfinished[one.namespace] += 1
                seen.oldest = min(one.created_at, seen.oldest or one.created_at)

    def _found(self, one: Listed, seen: Seen, deadline: float) -> None:
        """Keep a failure and count it; what cannot be kept must not hold up the others, and is left for next time."""
        try:
            raw = self.processing.raw(one.lineage_event_id, deadline)
        except UnansweredError as error:
            self._left(one, seen, error.cause)
            return
        received = Received(raw, Source.DATAZONE, received_at=one.created_at)
        judged = accept(raw, self.assertion)
        kept = self.quarantine.keep(received, _failure(one, judged))
        if isinstance(kept, Deferred) or kept.quarantine_key is None:
            self._left(one, seen, Cause.QUARANTINE_UNREACHABLE)
            return
        self.memory.add(one.lineage_event_id, one.created_at, kept.quarantine_key)
        seen.failed[one.namespace] += 1
        seen.emitters[emitter(raw)] += 1
        self.records.failed(received, judged if isinstance(judged, RunEvent) else None, kept)

    def _left(self, one: Listed, seen: Seen, cause: Cause) -> None:
        seen.left += 1
        self.records.unanswered(one.lineage_event_id, cause)


def _failure(one: Listed, judged: RunEvent | Rejected) -> Rejected:
    return Rejected(
        Code.FAILED_IN_DATAZONE,
        f"DataZone took it as {one.lineage_event_id} and could not process it; it does not say why",
        (Violation("", Status.FAILED.value, "must be an event that DataZone can process"),),
        judged.job,
        lineage_event_id=one.lineage_event_id,
    )
