"""A breaker before DataZone, so that an outage costs emitters milliseconds and not seconds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from adapter.model import Cause, Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter.ingest import Lineage
    from adapter.model import Outcome, RunEvent

# Failures in a row that open it, and the seconds it then stays open. Each container has its own and finds out alone.
FAILURES = 3
SECONDS = 20.0

# These say something about one event or one moment and nothing about DataZone's health.
_INNOCENT = frozenset({Cause.CONFLICT, Cause.NOT_STARTED})


class Breaker:
    """Asks `lineage` while it answers; after FAILURES deferrals in a row defers by itself for SECONDS."""

    def __init__(self, lineage: Lineage, clock: Callable[[], float] = time.monotonic) -> None:
        """Stand before `lineage`."""
        self._lineage = lineage
        self._clock = clock
        self._failures = 0
        self._open_until = 0.0

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event`, or say at once that it has to wait. After SECONDS one event tries whether it is over."""
        if self._clock() < self._open_until:
            return Deferred(Cause.BREAKER_OPEN, event.client_token)
        outcome = self._lineage.deliver(event, deadline)
        if not isinstance(outcome, Deferred):
            self._failures = 0
        elif outcome.cause not in _INNOCENT:
            self._failures += 1
            if self._failures >= FAILURES:
                self._open_until = self._clock() + SECONDS
        return outcome
