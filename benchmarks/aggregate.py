"""Processor time of a KPL aggregate of 100 events: its reader alone, and the whole door against plain records."""

from __future__ import annotations

import os
import time
from statistics import median

from adapter import kpl
from benchmarks import events, stand
from benchmarks.row import Row
from benchmarks.stream import Context, batch
from local.kpl import aggregate

_EVENTS = 100
_ROUNDS = 15


def measure() -> list[Row]:
    """Measure both."""
    with stand.datazone() as datazone:
        stand.function(datazone)
        from adapter import bootstrap  # noqa: PLC0415 - builds its clients from the environment just made

        door = bootstrap.kinesis(os.environ | {"LANES": "1"})
        door(batch(_fresh()), Context())
        packed, plain, reading = [], [], []
        for _ in range(_ROUNDS):
            one, many = batch([_aggregate(_fresh())]), batch(_fresh())
            packed.append(stand.cpu_seconds(door, one, Context()))
            plain.append(stand.cpu_seconds(door, many, Context()))
            data = _aggregate(_fresh())
            reading.append(stand.cpu_seconds(kpl.records, data) * 1000)
        ours, theirs, reader = median(packed), median(plain), median(reading)
        return [
            Row("KPL aggregate of 100, reader alone", f"{reader:.2f} ms", "", reader, 1.0),
            Row("KPL aggregate of 100 at the door, against plain", _each(ours), _each(theirs), ours / theirs, 1.1),
        ]


def _fresh() -> list[bytes]:
    base = time.time_ns()
    return [events.wide(events.SIZES["1 KB"], base + number) for number in range(_EVENTS)]


def _aggregate(data: list[bytes]) -> bytes:
    return aggregate([("run:retail/orders", one) for one in data])


def _each(seconds: float) -> str:
    return f"{seconds / _EVENTS * 1000:.2f} ms"


if __name__ == "__main__":
    stand.tell(measure())
