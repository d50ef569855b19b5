"""A small `make chaos`: every fault and every door, and an account that closes exactly."""

from __future__ import annotations

from tests.chaos.run import Chaos

# The backlog's two hours pass in four seconds.
SPEED = 2000


def test_every_event_is_in_exactly_one_place_after_a_series_of_bad_days() -> None:
    """Nothing missing, nothing in two places, no byte changed, and no answer but the contract's."""
    said: list[str] = []
    result = Chaos(events=480, seed=20, seconds=150, speed=SPEED, say=said.append).run()
    assert not result.wrong, "\n".join([*result.wrong, result.table, *said[-3:]])
