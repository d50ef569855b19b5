"""Many events at once: order within a run, different runs side by side, and a stop when nothing gets through."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING

from adapter.model import Cause, Deferred, Outcome, Received, RunEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adapter.ingest import Ingest

# The events of one run, in the order they came, each with its place among all of them.
Chain = list[tuple[int, RunEvent]]


class Lanes:
    """A fixed number of threads that deliver events, made once and kept for the life of the container."""

    def __init__(self, ingest: Ingest, lanes: int, patience: float) -> None:
        """Deliver at most `lanes` events at a time, trying each for at most `patience` seconds."""
        self._ingest = ingest
        self._lanes = lanes
        self._patience = patience
        self._pool = ThreadPoolExecutor(lanes, "lane")

    def run(self, received: Sequence[Received], deadline: float) -> list[Outcome]:
        """Judge, deliver and record each of `received` by `deadline` (monotonic seconds); outcomes in the same order.

        An event that has to wait stops its own run there: what follows it in that run is deferred as not_started. When
        as many runs in a row as there are lanes have to wait, nothing gets through and no further run is started.
        """
        outcomes: list[Outcome] = [Deferred(Cause.NOT_STARTED)] * len(received)
        chains: dict[str, Chain] = {}
        for place, one in enumerate(received):
            judged = self._ingest.judge(one)
            if isinstance(judged, RunEvent):
                chains.setdefault(judged.run_id, []).append((place, judged))
            else:
                outcomes[place] = self._ingest.record(one, None, judged)
        for chain, settled in self._deliver(list(chains.values()), deadline):
            for (place, event), outcome in zip(chain, settled, strict=True):
                outcomes[place] = self._ingest.record(received[place], event, outcome)
        return outcomes

    def _deliver(self, chains: list[Chain], deadline: float) -> Iterator[tuple[Chain, list[Outcome]]]:
        started = {self._pool.submit(self._follow, chain, deadline): chain for chain in chains}
        waiting = 0
        for future in as_completed(started):
            chain = started[future]
            settled = _not_started(chain) if future.cancelled() else future.result()
            yield chain, settled
            waiting = waiting + 1 if isinstance(settled[0], Deferred) else 0
            if waiting >= self._lanes:
                for later in started:
                    later.cancel()  # does nothing to what is under way

    def _follow(self, chain: Chain, deadline: float) -> list[Outcome]:
        """Deliver one run's events in their order, up to the first that has to wait."""
        settled = _not_started(chain)
        for place, (_, event) in enumerate(chain):
            settled[place] = self._ingest.deliver(event, min(deadline, time.monotonic() + self._patience))
            if isinstance(settled[place], Deferred):
                break
        return settled


def _not_started(chain: Chain) -> list[Outcome]:
    return [Deferred(Cause.NOT_STARTED, event.client_token) for _, event in chain]
