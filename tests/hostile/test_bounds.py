"""No body makes a function use much memory or time, and each is answered in the contract's words."""

from __future__ import annotations

import pytest

from adapter.doors.http import BATCH_PATH, EVENT_PATHS
from tests.hostile.bodies import BATCHES, BODIES, STREAM, envelope
from tests.hostile.measured import STATUS, Cost, costs

# What a body may unpack to is 6 MB, and it is there a few times: as it came, unpacked, as text, parsed.
MEGABYTES = 64
# Of a processor; of the bodies the longest took 0.4, of the batches 1.2.
SECONDS = 4.0
ALL = BODIES | BATCHES

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="a process's peak memory is read from Linux' /proc")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cost]:
    envelopes = {name: envelope(make(), EVENT_PATHS[0]) for name, (make, _, _) in BODIES.items()}
    envelopes |= {name: envelope(make(), BATCH_PATH) for name, (make, _, _) in BATCHES.items()}
    envelopes |= {name: make() for name, (make, _) in STREAM.items()}
    return costs(envelopes, tmp_path_factory.mktemp("envelopes"))


@pytest.mark.parametrize("name", ALL)
def test_it_is_answered_within_bounds(measured: dict[str, Cost], name: str) -> None:
    _, status, code = ALL[name]
    cost = measured[name]
    assert (cost.status, cost.body.get("code", "")) == (status, code)
    assert cost.megabytes < MEGABYTES
    assert cost.seconds < SECONDS


@pytest.mark.parametrize("name", STREAM)
def test_a_batch_of_the_stream_stays_within_bounds_and_goes_on(measured: dict[str, Cost], name: str) -> None:
    """What is too much at once is given again from where it was left, and what is too much by itself is refused."""
    _, left = STREAM[name]
    cost = measured[name]
    assert cost.body == {"batchItemFailures": [] if left is None else [{"itemIdentifier": left}]}
    assert cost.megabytes < MEGABYTES
    assert cost.seconds < SECONDS
