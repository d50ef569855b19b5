"""The program: judge an event, deliver or quarantine it, record what became of it. All doors meet here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from adapter.accept import accept
from adapter.model import Cause, Deferred, FormatAssertion, Outcome, Received, Rejected, RunEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter.model import Denial


class Lineage(Protocol):
    """Where accepted events go."""

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event` by `deadline` (monotonic seconds), or say why not."""


class Records(Protocol):
    """Who is told what became of each event."""

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome) -> None:
        """Note the outcome of `received`; `event` is what it was accepted as, if it was."""

    def unkept(self, received: Received) -> None:
        """Note an event that nothing durable took and that its emitter has to send again."""

    def denied(self, reason: Denial, cause: str | None = None) -> None:
        """Note somebody who was not let in; `cause` is why that could not be found out."""

    def fault(self, error: Exception) -> None:
        """Note an exception that nothing foresaw."""

    def flush(self) -> None:
        """Write what was counted; a door's last act in each invocation."""


class Quarantine(Protocol):
    """Where refused events go."""

    def keep(self, received: Received, rejected: Rejected) -> Rejected | Deferred:
        """Keep the bytes of `received` and why they were refused, or say that it has to wait."""


@dataclass(frozen=True, slots=True)
class Ingest:
    """Judge, settle, record. Nothing raises: what nobody foresaw is a deferral, so that no event is lost to a bug."""

    lineage: Lineage
    quarantine: Quarantine
    records: Records
    assertion: FormatAssertion = FormatAssertion.STRICT

    def __call__(self, received: Received, deadline: float) -> Outcome:
        """Take one event all the way; return by `deadline` (monotonic seconds)."""
        judged = self.judge(received)
        return self.record(received, judged, self.settle(received, judged, deadline))

    def judge(self, received: Received) -> RunEvent | Rejected | Deferred:
        """Say what `received` is; nothing is done about it yet."""
        return self._guarded(lambda: received.refused or self._accepted(received), None)

    def settle(self, received: Received, judged: RunEvent | Rejected | Deferred, deadline: float) -> Outcome:
        """Deliver what was accepted, quarantine what is refused, here or by DataZone. Safe in several threads."""
        token = judged.client_token if isinstance(judged, RunEvent) else None
        return self._guarded(lambda: self._settled(received, judged, deadline), token)

    def record(self, received: Received, judged: RunEvent | Rejected | Deferred, outcome: Outcome) -> Outcome:
        """Record and return `outcome`, the last word on `received`."""
        self.records.event(received, judged if isinstance(judged, RunEvent) else None, outcome)
        return outcome

    def _accepted(self, received: Received) -> RunEvent | Rejected:
        judged = accept(received.raw, self.assertion, received.namespaces)
        if received.replays and isinstance(judged, RunEvent):
            return judged.replaying(received.replays)
        return judged

    def _settled(self, received: Received, judged: RunEvent | Rejected | Deferred, deadline: float) -> Outcome:
        outcome = self.lineage.deliver(judged, deadline) if isinstance(judged, RunEvent) else judged
        if not isinstance(outcome, Rejected):
            return outcome
        job = judged.job if isinstance(judged, RunEvent) else outcome.job
        return self.quarantine.keep(received, replace(outcome, job=job))

    def _guarded[T](self, step: Callable[[], T], client_token: str | None) -> T | Deferred:
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the event; it is kept and tried again
            self.records.fault(error)
            return Deferred(Cause.UNEXPECTED, client_token)
