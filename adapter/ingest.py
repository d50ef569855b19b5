"""The program: judge an event, deliver or quarantine it, record what became of it. All doors meet here."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from adapter.accept import accept
from adapter.model import Cause, Deferred, FormatAssertion, Outcome, Received, Rejected, RunEvent, Times

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter.model import Denial, Source


class Lineage(Protocol):
    """Where accepted events go."""

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event` by `deadline` (monotonic seconds), or say why not."""


class Records(Protocol):
    """Who is told what became of each event."""

    def begin(self, context: object, gateway_request_id: str | None = None) -> None:
        """Note which invocation it is, by Lambda's `context`; a door's first act."""

    def batch(self, door: Source, size: int, deaggregated: int = 0) -> None:
        """Note how many records came at once, and how many user records out of aggregates."""

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome, times: Times) -> None:
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


class Judged(NamedTuple):
    """What an event is, and between which two moments (monotonic seconds) that was found out."""

    verdict: RunEvent | Rejected | Deferred
    began: float
    ended: float


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

    def judge(self, received: Received) -> Judged:
        """Say what `received` is; nothing is done about it yet."""
        began = time.monotonic()
        verdict = self._guarded(lambda: received.refused or self._accepted(received), None)
        return Judged(verdict, began, time.monotonic())

    def settle(self, received: Received, judged: Judged, deadline: float) -> Outcome:
        """Deliver what was accepted, quarantine what is refused, here or by DataZone. Safe in several threads."""
        verdict = judged.verdict
        token = verdict.client_token if isinstance(verdict, RunEvent) else None
        return self._guarded(lambda: self._settled(received, verdict, deadline), token)

    def record(self, received: Received, judged: Judged, outcome: Outcome) -> Outcome:
        """Record and return `outcome`, the last word on `received`."""
        event = judged.verdict if isinstance(judged.verdict, RunEvent) else None
        times = Times(judged.ended - judged.began, time.monotonic() - judged.began)
        self.records.event(received, event, outcome, times)
        return outcome

    def _accepted(self, received: Received) -> RunEvent | Rejected:
        judged = accept(received.raw, self.assertion, received.namespaces)
        if received.replays and isinstance(judged, RunEvent):
            return judged.replaying(received.replays)
        return judged

    def _settled(self, received: Received, verdict: RunEvent | Rejected | Deferred, deadline: float) -> Outcome:
        outcome = self.lineage.deliver(verdict, deadline) if isinstance(verdict, RunEvent) else verdict
        if not isinstance(outcome, Rejected):
            return outcome
        job = verdict.job if isinstance(verdict, RunEvent) else outcome.job
        return self.quarantine.keep(received, replace(outcome, job=job))

    def _guarded[T](self, step: Callable[[], T], client_token: str | None) -> T | Deferred:
        try:
            return step()
        except Exception as error:  # noqa: BLE001 - a bug of ours must not cost the event; it is kept and tried again
            self.records.fault(error)
            return Deferred(Cause.UNEXPECTED, client_token)
