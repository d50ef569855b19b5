"""Many events at once: order within a run, different runs side by side, and a stop when nothing gets through."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Lock
from typing import TYPE_CHECKING

from adapter.model import Cause, Deferred, Outcome, Received, Rejected, RunEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adapter.ingest import Ingest

Judged = RunEvent | Rejected | Deferred

# The events of one run, in the order they came, each with its place among all of them. What is refused has no run: it
# is a chain by itself.
Chain = list[tuple[int, Judged]]


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
        outcomes: list[Outcome] = [Deferred(Cause.NOT_STARTED)] * len(received)
        for chain, settled in self._settle(received, self._chains(received), deadline):
            for (place, judged), outcome in zip(chain, settled, strict=True):
                outcomes[place] = self._ingest.record(received[place], judged, outcome)
        return outcomes

    def map[T, R](self, step: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Do `step` for each of `items` in the lanes; results in the same order."""
        return list(self._pool.map(step, items))

    def _chains(self, received: Sequence[Received]) -> list[Chain]:
        chains: dict[object, Chain] = {}
        for place, one in enumerate(received):
            judged = self._ingest.judge(one)
            key = judged.run_id if isinstance(judged, RunEvent) else place
            chains.setdefault(key, []).append((place, judged))
        return list(chains.values())

    def _settle(
        self, received: Sequence[Received], chains: list[Chain], deadline: float
    ) -> Iterator[tuple[Chain, list[Outcome]]]:
        watch = _Watch(self._lanes)
        started = {self._pool.submit(self._follow, received, chain, deadline, watch): chain for chain in chains}
        for future in as_completed(started):
            yield started[future], future.result()

    def _follow(self, received: Sequence[Received], chain: Chain, deadline: float, watch: _Watch) -> list[Outcome]:
        """Settle one run's events in their order, up to the first that has to wait."""
        outcomes = _not_started(chain)
        for step, (place, judged) in enumerate(chain):
            if watch.nothing_gets_through():
                break
            by = min(deadline, time.monotonic() + self._patience)
            outcomes[step] = self._ingest.settle(received[place], judged, by)
            watch.note(outcomes[step])
            if isinstance(outcomes[step], Deferred):
                break
        return outcomes


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


def _not_started(chain: Chain) -> list[Outcome]:
    return [
        Deferred(Cause.NOT_STARTED, judged.client_token if isinstance(judged, RunEvent) else None)
        for _, judged in chain
    ]
