"""What this container has just delivered is not sent again when a stream or a queue gives it again."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from adapter.model import Delivered

if TYPE_CHECKING:
    from adapter.ingest import Lineage
    from adapter.model import Outcome, RunEvent

# Some megabytes, and several of the largest batches that Lambda hands over.
REMEMBERED = 20_000


class Remembering:
    """Delivers through `lineage` what it has not delivered lately itself. Safe to share among threads."""

    def __init__(self, lineage: Lineage, remembered: int = REMEMBERED) -> None:
        """Stand before `lineage` and remember the last `remembered` deliveries by their client tokens."""
        self._lineage = lineage
        self._remembered = remembered
        self._delivered: OrderedDict[str, Delivered] = OrderedDict()
        self._lock = Lock()

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event`, or repeat what became of the same event a moment ago."""
        known = self._delivered.get(event.client_token)
        if known is not None:
            return known
        outcome = self._lineage.deliver(event, deadline)
        if isinstance(outcome, Delivered):
            # Whoever is given it again has made no call.
            known = replace(outcome, calls=())
            with self._lock:
                self._delivered[event.client_token] = known
                while len(self._delivered) > self._remembered:
                    self._delivered.popitem(last=False)
        return outcome
