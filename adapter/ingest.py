"""The program: judge an event, deliver it, record what became of it. Every door calls this and nothing behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapter.accept import accept
from adapter.model import Cause, Deferred, FormatAssertion, Outcome, Received, Rejected, RunEvent

if TYPE_CHECKING:
    from collections.abc import Callable


class Lineage(Protocol):
    """Where accepted events go."""

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event` by `deadline` (monotonic seconds), or say why not."""


class Records(Protocol):
    """Who is told what became of each event."""

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome) -> None:
        """Note the outcome of `received`; `event` is what it was accepted as, if it was."""

    def fault(self, error: Exception) -> None:
        """Note an exception that nothing foresaw."""

    def flush(self) -> None:
        """Write what was counted; a door's last act in each invocation."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """Judge, deliver, record. Nothing raises: what nobody foresaw is a deferral, so that no event is lost to a bug."""

    lineage: Lineage
    records: Records
    assertion: FormatAssertion = FormatAssertion.STRICT

    def __call__(self, received: Received, deadline: float) -> Outcome:
        """Take one event all the way; return by `deadline` (monotonic seconds)."""
        judged = self.judge(received)
        if not isinstance(judged, RunEvent):
            return self.record(received, None, judged)
        return self.record(received, judged, self.deliver(judged, deadline))

    def judge(self, received: Received) -> RunEvent | Rejected | Deferred:
        """Say what `received` is, without recording it."""
        return self._guarded(lambda: accept(received.raw, self.assertion), None)

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver an accepted event, without recording it. Safe to call from several threads."""
        return self._guarded(lambda: self.lineage.deliver(event, deadline), event.client_token)

    def record(self, received: Received, event: RunEvent | None, outcome: Outcome) -> Outcome:
        """Record and return `outcome`, the last word on `received`."""
        self.records.event(received, event, outcome)
        return outcome

    def _guarded[T](self, step: Callable[[], T], client_token: str | None) -> T | Deferred:
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the event; it is kept and tried again
            self.records.fault(error)
            return Deferred(Cause.UNEXPECTED, client_token)
