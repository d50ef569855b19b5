"""Many events at once: order within a run, different runs side by side, and a stop when nothing gets through."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock, Semaphore
from typing import TYPE_CHECKING

from adapter.model import Cause, Deferred, Outcome, Received, RunEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from adapter.ingest import Ingest, Judged

# An event's place among all of them, what it was judged to be, and then what became of it.
type _Step = tuple[int, Judged]
type _Settled = tuple[int, Judged, Outcome]


class Lanes:
    """A fixed number of threads that settle events, made once and kept for the life of the container."""

    def __init__(self, ingest: Ingest, lanes: int, patience: float) -> None:
        """Settle at most `lanes` events at a time, trying each for at most `patience` seconds."""
        self._ingest = ingest
        self._lanes = lanes
        self._patience = patience
        self._pool = ThreadPoolExecutor(lanes, "lane")

    def run(self, received: Sequence[Received], deadline: float) -> list[Outcome]:
        """Judge, settle and record each of `received` by `deadline` (monotonic seconds); outcomes in the same order.

        An event that has to wait stops its own run there: what follows it in that run is deferred as not_started. When
        as many in a row as there are lanes have to wait, nothing gets through and nothing more is started.
        """
        watch = _Watch(self._lanes)
        chains: defaultdict[object, _Chain] = defaultdict(_Chain)
        started: list[Future[list[_Settled]]] = []
        # What has been judged is on its way while the rest is still being judged; and judging goes no further ahead
        # than the lanes can soon follow, or it would take the processor from them.
        ahead = Semaphore(self._lanes)
        for place, one in enumerate(received):
            judged = self._ingest.judge(one)
            chain = chains[judged.verdict.run_id if isinstance(judged.verdict, RunEvent) else place]
            if chain.add((place, judged)):
                ahead.acquire()
                started.append(self._pool.submit(self._follow, received, chain, deadline, watch, ahead))
        settled = [step for future in as_completed(started) for step in self._recorded(received, future.result())]
        left = [_not_started(step) for chain in chains.values() for step in chain.left()]
        outcomes = {place: outcome for place, _, outcome in [*settled, *self._recorded(received, left)]}
        return [outcomes[place] for place in range(len(received))]

    def map[T, R](self, step: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Do `step` for each of `items` in the lanes; results in the same order."""
        return list(self._pool.map(step, items))

    def _recorded(self, received: Sequence[Received], settled: list[_Settled]) -> list[_Settled]:
        for place, judged, outcome in settled:
            self._ingest.record(received[place], judged, outcome)
        return settled

    def _follow(
        self, received: Sequence[Received], chain: _Chain, deadline: float, watch: _Watch, ahead: Semaphore
    ) -> list[_Settled]:
        """Settle one run's events in their order, up to the first that has to wait."""
        ahead.release()
        settled: list[_Settled] = []
        while step := chain.next(held=watch.nothing_gets_through()):
            place, judged = step
            by = min(deadline, time.monotonic() + self._patience)
            outcome = self._ingest.settle(received[place], judged, by)
            settled.append((place, judged, outcome))
            watch.note(outcome)
            if isinstance(outcome, Deferred):
                chain.hold()
        return settled


class _Chain:
    """The events of one run, in the order they came, followed by one lane at a time. What is refused has no run."""

    def __init__(self) -> None:
        self._waiting: deque[_Step] = deque()
        self._followed = False
        self._held = False
        self._lock = Lock()

    def add(self, step: _Step) -> bool:
        """Put `step` at the end; say whether a lane has to come for it."""
        with self._lock:
            self._waiting.append(step)
            needed = not self._followed and not self._held
            self._followed = self._followed or needed
            return needed

    def next(self, *, held: bool) -> _Step | None:
        """Take the first; None ends the lane's following, because nothing is there or it is `held`."""
        with self._lock:
            self._held = self._held or held
            if self._waiting and not self._held:
                return self._waiting.popleft()
            self._followed = False
            return None

    def hold(self) -> None:
        """Let nothing more of it be taken."""
        with self._lock:
            self._held = True

    def left(self) -> list[_Step]:
        """Give what was not taken."""
        return list(self._waiting)


class _Watch:
    """Counts the events in a row that had to wait, over all lanes of one batch."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._in_a_row = 0
        self._lock = Lock()

    def note(self, outcome: Outcome) -> None:
        with self._lock:
            self._in_a_row = self._in_a_row + 1 if isinstance(outcome, Deferred) else 0

    def nothing_gets_through(self) -> bool:
        return self._in_a_row >= self._limit


def _not_started(step: _Step) -> _Settled:
    place, judged = step
    token = judged.verdict.client_token if isinstance(judged.verdict, RunEvent) else None
    return place, judged, Deferred(Cause.NOT_STARTED, token)
