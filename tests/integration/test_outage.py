"""DataZone goes away under load and comes back: nobody is kept waiting, and nothing is missing."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from random import Random
from statistics import median
from typing import TYPE_CHECKING

import pytest

from tests.chaos.events import good
from tests.integration.running import STREAM, Running, start, until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# The backlog's half a minute before the second try passes in a fraction of a second, its two hours in a quarter minute.
SPEED = "500"
RNG = Random(11)  # noqa: S311 - to be repeated, not to be secret


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system of its own: an outage leaves breakers open."""
    running = start(tmp_path_factory.mktemp("outage") / "terminal", "StreamBatchWindow=0", QUEUE_SPEED=SPEED)
    yield running
    assert running.stop() == 0


def _events(first: int, count: int) -> list[bytes]:
    return [good(index, RNG).raw for index in range(first, first + count)]


def _post(system: Running, raw: bytes) -> tuple[int, float]:
    """Post an event; give the status and the seconds it took."""
    began = time.monotonic()
    status = system.post(raw).status
    return status, time.monotonic() - began


def _all_there(system: Running, sent: Sequence[bytes]) -> bool:
    return sorted(system.delivered().values()) == sorted(sent)


def test_a_breaker_makes_an_outage_cost_milliseconds_and_what_waits_arrives(system: Running) -> None:
    """Three answers in a row take what the door has for DataZone; then the container does not ask any more."""
    system.faults("PUT", latency_ms=4_000)
    sent = _events(0, 33)
    answers = [_post(system, raw) for raw in sent]
    system.faults("DELETE")
    assert {status for status, _ in answers} == {202}
    stalled, spared = answers[:3], answers[3:]
    assert all(seconds < 4 for _, seconds in answers)
    assert median(seconds for _, seconds in spared) * 5 < median(seconds for _, seconds in stalled)
    until(lambda: _all_there(system, sent))


@pytest.mark.parametrize("fault", [{"domain_missing": True}, {"drop": 1.0}], ids=["no domain", "no answer"])
def test_everything_arrives_once_after_an_outage_under_load(system: Running, fault: dict[str, object]) -> None:
    """Over HTTP every answer is a 202; what is on the stream waits there; in the end each event is there once."""
    before = list(system.delivered().values())
    posted, streamed = _events(100 + len(before), 80), _events(10_000 + len(before), 80)
    system.faults("PUT", **fault)
    system.kinesis.put_records(
        StreamName=STREAM, Records=[{"PartitionKey": str(place), "Data": raw} for place, raw in enumerate(streamed)]
    )
    with ThreadPoolExecutor(4) as emitters:
        statuses = {status for status, _ in emitters.map(lambda raw: _post(system, raw), posted)}
    system.faults("DELETE")
    assert statuses == {202}
    until(lambda: _all_there(system, [*before, *posted, *streamed]))
