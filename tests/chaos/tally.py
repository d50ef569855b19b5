"""What the emitters were told, noted down as it happens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.chaos.events import Event
    from tests.chaos.shipments import Door


@dataclass
class Tally:
    """Safe to share among threads. Events go by their index, never by their values."""

    sent: dict[int, tuple[Door, Event]] = field(default_factory=dict)
    taken: set[int] = field(default_factory=set)
    given_up: set[int] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def send(self, door: Door, events: Iterable[Event]) -> None:
        """Note events that an emitter begins to send."""
        with self._lock:
            for event in events:
                self.sent.setdefault(event.index, (door, event))

    def take(self, events: Iterable[Event]) -> None:
        """Note that the adapter, or its stream or queue, answers for these now."""
        with self._lock:
            self.taken |= {event.index for event in events}

    def give_up(self, events: Iterable[Event]) -> None:
        """Note events that were answered 503 and are not sent again by this emitter."""
        with self._lock:
            self.given_up |= {event.index for event in events}

    def answer(self, what: str, seconds: float) -> None:
        """Count an answer of the HTTP door."""
        with self._lock:
            self.answers[what] += 1
            self.seconds.append(seconds)

    def breach(self, what: str, events: Iterable[Event]) -> None:
        """Note an answer that breaks the contract."""
        with self._lock:
            self.broken.append(f"{what}: events {', '.join(str(event.index) for event in events)}")

    @property
    def absent(self) -> set[int]:
        """The events that nobody answers for: their emitters gave up, and no other emitter sent them too."""
        return self.given_up - self.taken
