"""The whole run: load and bad days at the same time, then calm, then the account."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from random import Random
from threading import Event, Thread
from typing import TYPE_CHECKING

from tests.chaos.account import draw_up
from tests.chaos.drain import Rest
from tests.chaos.emitters import Emitters, OutOfTimeError
from tests.chaos.phases import CALM, PHASES
from tests.chaos.shipments import Packer
from tests.chaos.stand import FUNCTIONS, Stand
from tests.chaos.table import table
from tests.chaos.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from tests.chaos.phases import Phase
    from tests.chaos.shipments import Shipment

# More than there are HTTP sandboxes: some wait to send again.
_EMITTERS = 12
# Of a phase without hope, at least and at most: each of its events costs its emitter seconds.
_HOPELESS_EVENTS = (20, 150)
_TELL_EVERY = 1.0

_CONTRACT = frozenset({"200", "202", "400", "413", "415", "422", "503"})
# API Gateway's own word for a function that died; each that is killed can cost one request.
_DIED = "500"


@dataclass(frozen=True, slots=True)
class Result:
    """What came out: the account as a table, and all that was wrong."""

    table: str
    wrong: Sequence[str]


class Chaos:
    """One run of about `events` events. `seed` decides all but the faults' own chance and the scheduler's."""

    def __init__(self, events: int, seed: int, seconds: float, speed: int, say: Callable[[str], None]) -> None:
        """Be done within `seconds`; the queues run `speed` times as fast; `say` is told how it goes."""
        self._events = events
        self._rng = Random(seed)  # noqa: S311 - to be repeated, not to be secret
        self._packer = Packer(Random(seed))  # noqa: S311 - the same
        self._deadline = time.monotonic() + seconds
        self._stand = Stand(speed, "BacklogConcurrency=4", "LogLevel=WARNING")
        self._tally = Tally()
        self._say = say

    def run(self) -> Result:
        """Do it all."""
        with self._stand as stand:
            with closing(Emitters(stand.running.url, stand.client, self._tally, self._deadline)) as emitters:
                in_time = self._storm(emitters)
            stand.break_()
            rest = Rest(stand)
            expected = len(self._tally.sent) - len(self._tally.absent)
            in_time = rest.settle(expected, self._deadline, self._say) and in_time
            account = draw_up(self._tally.sent, self._tally.absent, rest.found())
            wrong = [*account.differences, *self._breaches(), *([] if in_time else ["not all at rest in time"])]
            return Result(table(account, self._tally, stand, rest), wrong)

    def _storm(self, emitters: Emitters) -> bool:
        """Go through all phases; False when time ran out."""
        phases = [CALM, *self._rng.sample(PHASES, len(PHASES))]
        try:
            for number, phase in enumerate(phases, 1):
                self._stand.break_(*phase.faults)
                with self._told(f"{number}/{len(phases)} {phase.name}"), self._killing(phase.kill_every):
                    self._weather(phase, emitters, self._events // len(phases))
        except OutOfTimeError:
            return False
        return True

    def _weather(self, phase: Phase, emitters: Emitters, events: int) -> None:
        """Ship the events of one phase."""
        if not phase.hopeless:
            _ship(emitters, self._packer.pack(events, phase.doors))
            return
        least, most = _HOPELESS_EVENTS
        shipments = self._packer.pack(min(max(events // 4, least), most), phase.doors)
        with ThreadPoolExecutor(1) as meanwhile:
            patient = meanwhile.submit(_ship, emitters, shipments[::2])
            _ship(emitters, [replace(one, gives_up=True) for one in shipments[1::2]])
            # Those that did not give up are taken in the end.
            self._stand.break_()
            patient.result()

    def _killing(self, every: float) -> AbstractContextManager[None]:
        """End a sandbox of one function or another, again and again."""
        rng = Random(self._rng.random())  # noqa: S311 - to be repeated, not to be secret
        return _repeated(lambda: self._stand.kill(rng.choice(FUNCTIONS), rng), every)

    @contextmanager
    def _told(self, phase: str) -> Iterator[None]:
        began = time.monotonic()

        def tell() -> None:
            taken, seconds = len(self._tally.taken), time.monotonic() - began
            self._say(f"{phase}: {taken:,} of about {self._events:,} events taken, {seconds:.0f} s")

        with _repeated(tell, _TELL_EVERY):
            yield
        tell()

    def _breaches(self) -> Iterator[str]:
        """Name every answer that breaks the contract."""
        yield from self._tally.broken
        for status, times in self._tally.answers.items():
            allowed = self._stand.kills["http"] if status == _DIED else 0
            if status not in _CONTRACT and times > allowed:
                yield f"answers with status {status}: {times}"


def _ship(emitters: Emitters, shipments: Sequence[Shipment]) -> None:
    with ThreadPoolExecutor(_EMITTERS) as pool:
        for _ in pool.map(emitters.ship, shipments):
            pass


@contextmanager
def _repeated(step: Callable[[], None], every: float) -> Iterator[None]:
    """Do `step` every so many seconds beside the body."""
    over = Event()

    def repeat() -> None:
        while not over.wait(every):
            step()

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
