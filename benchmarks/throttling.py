"""What gets through when DataZone takes 30 % less than 32 lanes could give it, and how often each event is sent."""

from __future__ import annotations

import os
import time

from benchmarks import events, stand
from benchmarks.row import Row
from benchmarks.stream import Context, batch

_LANES = 32
_DELAY_MS = 100
_LIMIT = 0.7 * _LANES * 1000 / _DELAY_MS
_EVENTS = 1500
_LEAST_GOODPUT = 0.9
# Were every event sent until it is taken at the full rate, 1 in 0.7 would be taken.
_MOST_SENT = 1 / 0.7


def measure() -> list[Row]:
    """Measure goodput and requests."""
    with stand.datazone(_DELAY_MS, _LIMIT) as datazone:
        stand.function(datazone)
        from adapter import bootstrap  # noqa: PLC0415 - builds its clients from the environment just made

        door = bootstrap.kinesis(os.environ | {"LANES": str(_LANES)})
        base = time.time_ns()
        door(batch([events.wide(1, base + number) for number in range(_EVENTS)]), Context())
        counted = datazone.counted()
        goodput = counted["taken"] / counted["seconds"]
        sent = (counted["taken"] + counted["throttled"]) / counted["taken"]
        return [
            Row(
                "Goodput at 30 % over DataZone's limit",
                f"{goodput:.0f}/s",
                f"{_LIMIT:.0f}/s",
                goodput / _LIMIT,
                at_least=_LEAST_GOODPUT,
            ),
            Row("Requests for each event taken, throttled", f"{sent:.2f}", "", sent, _MOST_SENT),
        ]


if __name__ == "__main__":
    stand.tell(measure())
