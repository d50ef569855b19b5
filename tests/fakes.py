"""Stand-ins at the program's own seams, kept beside the tests that use them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from adapter.doors.callers import Callers
from adapter.model import (
    Access,
    Cause,
    Deferred,
    Delivered,
    Denial,
    Outcome,
    Received,
    Rejected,
    RunEvent,
    Source,
    Times,
)
from adapter.secret import UnreadableError

if TYPE_CHECKING:
    from adapter.producers import Producer, Producers

# How long an event may have taken, where that does not matter.
TIMES = Times(0.001, 0.25)

Script = Callable[[RunEvent], Outcome]


def delivered(event: RunEvent) -> Outcome:
    return Delivered("abc123def456gh", "dzd_local", event.client_token, event.warnings)


@dataclass
class FakeLineage:
    """Where events go: answers by `script` and remembers what it was given, in order."""

    script: Script = delivered
    given: list[RunEvent] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        del deadline
        with self._lock:
            self.given.append(event)
        return self.script(event)


@dataclass
class FakeQuarantine:
    """Keeps what was refused, unless it is away."""

    away: bool = False
    kept: list[tuple[Received, Rejected]] = field(default_factory=list)

    def keep(self, received: Received, rejected: Rejected) -> Rejected | Deferred:
        if self.away:
            return Deferred(Cause.QUARANTINE_UNREACHABLE)
        self.kept.append((received, rejected))
        return replace(rejected, quarantine_key=f"quarantine/{rejected.code}/x.event")


@dataclass
class FakeBacklog:
    """Takes what has to wait, unless it is away."""

    away: bool = False
    put_in: list[tuple[Received, str | None]] = field(default_factory=list)
    postponed: dict[str, int] = field(default_factory=dict)

    def put(self, received: Received, client_token: str | None) -> bool:
        if not self.away:
            self.put_in.append((received, client_token))
        return not self.away

    def postpone(self, receipt_handle: str, seconds: int) -> None:
        self.postponed[receipt_handle] = seconds


@dataclass
class FakeTelemetry:
    """Remembers what it was told."""

    told: list[tuple[Received, RunEvent | None, Outcome]] = field(default_factory=list)
    lost: list[Received] = field(default_factory=list)
    faults: list[Exception] = field(default_factory=list)
    let_in: list[tuple[str, str]] = field(default_factory=list)
    kept_out: list[tuple[Denial, str | None, str | None]] = field(default_factory=list)
    batches: list[tuple[Source, int, int]] = field(default_factory=list)
    begun: list[str | None] = field(default_factory=list)
    flushed: int = 0

    def begin(self, context: object, gateway_request_id: str | None = None) -> None:
        del context
        self.begun.append(gateway_request_id)

    def batch(self, door: Source, size: int, deaggregated: int = 0) -> None:
        self.batches.append((door, size, deaggregated))

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome, times: Times) -> None:
        del times
        self.told.append((received, event, outcome))

    def unkept(self, received: Received) -> None:
        self.lost.append(received)

    def admitted(self, producer: str, token_id: str) -> None:
        self.let_in.append((producer, token_id))

    def denied(self, reason: Denial, cause: str | None = None, producer: str | None = None) -> None:
        self.kept_out.append((reason, cause, producer))

    def fault(self, error: Exception) -> None:
        self.faults.append(error)

    def flush(self) -> None:
        self.flushed += 1


@dataclass
class FakeDirectory:
    """Knows these producers, unless it cannot be read."""

    known: list[Producer] = field(default_factory=list)
    away: bool = False

    def producers(self) -> Producers:
        if self.away:
            raise UnreadableError("ReadTimeoutError")
        return {producer.name: producer for producer in self.known}


def callers(
    access: Access = Access.OPEN, directory: FakeDirectory | None = None, told: FakeTelemetry | None = None
) -> Callers:
    return Callers(access, "sub", directory or FakeDirectory(), told or FakeTelemetry())


def run_event(run: int = 1, **more: object) -> bytes:
    """Make a small valid RunEvent; `run` numbers its run, `more` are further members."""
    event = {
        "eventType": "COMPLETE",
        "inputs": [{"namespace": "s3://lake", "name": "raw"}],
        "eventTime": "2026-11-29T10:00:00Z",
        "producer": "https://example.com/retail/1.0",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": f"00000000-0000-4000-8000-{run:012d}"},
        "job": {"namespace": "retail", "name": "orders.daily"},
    }
    return json.dumps(event | more).encode()
