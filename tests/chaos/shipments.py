"""Events packed for the doors: alone, compressed, in arrays, in aggregates; poison at every position."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING

from tests.chaos.events import Event, Fits, good, poison

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random


class Door(StrEnum):
    """A way into the adapter."""

    HTTP = "http"
    HTTP_GZIP = "http, gzip"
    BATCH = "http batch"
    BROKEN_BATCH = "http batch, no array"
    KINESIS = "kinesis"
    KINESIS_GZIP = "kinesis, gzip"
    KINESIS_KPL = "kinesis, aggregate"
    BACKLOG = "backlog"


# How many shipments of each there are, how many events one holds, and what poison it can hold.
_WEIGHTS = {
    Door.HTTP: (60, 1, Fits.ONLY_PLAIN),
    Door.HTTP_GZIP: (45, 1, Fits.NOT_IN_AN_ARRAY),
    Door.BATCH: (4, 30, Fits.ANYWHERE),
    Door.BROKEN_BATCH: (1, 1, Fits.ANYWHERE),
    Door.KINESIS: (3, 20, Fits.ONLY_RECORD),
    Door.KINESIS_GZIP: (2, 20, Fits.NOT_IN_AN_ARRAY),
    Door.KINESIS_KPL: (5, 12, Fits.ONLY_PLAIN),
    Door.BACKLOG: (4, 10, Fits.ONLY_PLAIN),
}
HTTP_DOORS = (Door.HTTP, Door.HTTP_GZIP, Door.BATCH)
ALL_DOORS = tuple(_WEIGHTS)

_POISONED = 0.08  # of what goes alone
_ALL_POISON = 0.05  # of what goes together
_CLEAN = 0.4
_SENT_TWICE = 0.02


@dataclass(frozen=True, slots=True)
class Shipment:
    """What goes through `door` at once. `gives_up` says that its emitter does when it is told 503 twice."""

    door: Door
    events: tuple[Event, ...]
    gives_up: bool = False


class Packer:
    """Makes shipments of events that are numbered through."""

    def __init__(self, rng: Random) -> None:
        """Choose with `rng`."""
        self._rng = rng
        self._indexes = count()
        self._positions = count()

    def pack(self, events: int, doors: Sequence[Door] = ALL_DOORS) -> list[Shipment]:
        """Pack at least `events` new events for `doors`, and some of them twice: emitters do that."""
        shipments = list(self._packed(events, doors))
        again = [one for one in shipments if one.door in HTTP_DOORS and self._rng.random() < _SENT_TWICE]
        return shipments + again

    def _packed(self, events: int, doors: Sequence[Door]) -> Iterator[Shipment]:
        weights = [_WEIGHTS[door][0] for door in doors]
        left = events
        while left > 0:
            door = self._rng.choices(doors, weights)[0]
            shipment = self._shipment(door)
            left -= len(shipment.events)
            yield shipment

    def _shipment(self, door: Door) -> Shipment:
        _, most, room = _WEIGHTS[door]
        if door is Door.BROKEN_BATCH:
            index = next(self._indexes)
            return Shipment(door, (Event(index, b'{"no array": %d}' % index, "not_an_object"),))
        size = self._rng.randint(1, most)
        bad = self._bad(size)
        made = (
            poison(next(self._indexes), self._rng, room) if place in bad else good(next(self._indexes), self._rng)
            for place in range(size)
        )
        return Shipment(door, tuple(made))

    def _bad(self, size: int) -> set[int]:
        """Say which places hold poison: of one position after the other, so that each has its turn."""
        chance = self._rng.random()
        if size == 1:
            return {0} if chance < _POISONED else set()
        if chance < _ALL_POISON:
            return set(range(size))
        return set() if chance < _ALL_POISON + _CLEAN else {next(self._positions) % size}
