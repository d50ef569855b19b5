"""The account: what was sent against what is where. A difference of one is a difference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.chaos.events import token

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from tests.chaos.events import Event
    from tests.chaos.shipments import Door

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Found:
    """What is where in the end.

    `delivered`: the bytes of each lineage event that DataZone has. `kept`: the bytes of each object
    quarantine/<code>/<sha256>.event by (code, sha256). `explained` and `dated`: the names (code, sha256) for which
    there is a reason and a day.
    """

    delivered: Sequence[bytes]
    kept: Mapping[tuple[str, str], bytes]
    explained: Collection[tuple[str, str]]
    dated: Collection[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Row:
    """The account of one door, in events."""

    sent: int
    absent: int
    delivered: int
    quarantined: int

    @property
    def difference(self) -> int:
        """How many events are missing; below zero: too many."""
        return self.sent - self.absent - self.delivered - self.quarantined


@dataclass(frozen=True, slots=True)
class Account:
    """`rows` by door; `differences` in words, by the events' indexes, none when all is well."""

    rows: Mapping[str, Row]
    differences: Sequence[str]


def draw_up(sent: Mapping[int, tuple[Door, Event]], absent: Collection[int], found: Found) -> Account:
    """Compare what was `sent`, by index, with what was `found`; `absent` were refused with 503 and not sent again."""
    books = _Books(sent, absent, found)
    return Account(books.rows(), list(books.differences()))


class _Books:
    def __init__(self, sent: Mapping[int, tuple[Door, Event]], absent: Collection[int], found: Found) -> None:
        self._sent = sent
        self._absent = absent
        self._found = found
        self._by_raw = {event.raw: event for _, event in sent.values()}
        self._times = Counter(found.delivered)
        self._codes: dict[str, set[str]] = {}
        for code, digest in found.kept:
            self._codes.setdefault(digest, set()).add(code)

    def rows(self) -> dict[str, Row]:
        doors = dict.fromkeys(door for door, _ in self._sent.values())
        return {door.value: self._row([event for own, event in self._sent.values() if own is door]) for door in doors}

    def _row(self, events: Sequence[Event]) -> Row:
        return Row(
            sent=len(events),
            absent=sum(event.index in self._absent for event in events),
            delivered=sum(self._times[event.raw] for event in events),
            quarantined=sum(len(self._codes.get(event.digest, ())) for event in events),
        )

    def differences(self) -> Iterator[str]:
        for name, indexes in self._wrong().items():
            if indexes:
                more = f" and {len(indexes) - _SHOWN} more" if len(indexes) > _SHOWN else ""
                yield f"{name}: {len(indexes)} ({', '.join(map(str, indexes[:_SHOWN]))}{more})"
        found = self._found
        if strangers := sum(raw not in self._by_raw for raw in self._times):
            yield f"delivered, and sent by nobody: {strangers}"
        if strangers := sum(raw not in self._by_raw for raw in found.kept.values()):
            yield f"quarantined, and sent by nobody: {strangers}"
        for what, names in (("reason", found.explained), ("day", found.dated)):
            if alone := len(set(found.kept) - set(names)):
                yield f"quarantined without a {what}: {alone}"
        tokens = Counter(token(raw) for raw in found.delivered)
        if twice := sum(times > 1 for times in tokens.values()):
            yield f"tokens that are in DataZone more than once: {twice}"

    def _wrong(self) -> dict[str, list[int]]:
        """Sort events that are not in their one place by what is wrong with them."""
        wrong: dict[str, list[int]] = {}
        for index, (_, event) in self._sent.items():
            if said := self._verdict(event):
                wrong.setdefault(said, []).append(index)
        return wrong

    def _verdict(self, event: Event) -> str | None:
        times, codes = self._times[event.raw], self._codes.get(event.digest, set())
        if event.index in self._absent:
            return "refused with 503, and there all the same" if times or codes else None
        if times and codes:
            return "both delivered and quarantined"
        if not times and not codes:
            return "neither delivered nor quarantined"
        if times > 1:
            return "delivered more than once"
        expected = {event.code} if event.code else set()
        return None if codes == expected else f"quarantined as {', '.join(sorted(codes)) or 'nothing'}"
