"""Processor time of one event at the HTTP door, whole, against the reference, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import events, stand
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    # Envelope, size and how many times to processor seconds for each.
    type Worker = Callable[[str, str, int], float]

_ROUNDS = 15
_GOALS = {"1 KB": 1.0, "22 KB": 1.0, "290 KB": 1.1, "the samples": 1.0}
_TIMES = {"1 KB": 60, "22 KB": 40, "290 KB": 8, "the samples": 2}
_ENVELOPES = {"1.0": "http-v1.json", "2.0": "http-v2.json"}


def measure() -> list[Row]:
    """Measure each size in both payload formats, the two programs in turn."""
    with (
        stand.datazone() as datazone,
        worker("adapter.handlers.http:handler", datazone) as ours,
        worker("benchmarks.reference:http", datazone) as reference,
    ):
        return [_row(version, size, ours, reference) for version in _ENVELOPES for size in _GOALS]


def _row(version: str, size: str, ours: Worker, reference: Worker) -> Row:
    asked = (_ENVELOPES[version], size, _TIMES[size])
    rounds = [(ours(*asked), reference(*asked)) for _ in range(_ROUNDS)]
    mine, theirs = (median(one) for one in zip(*rounds, strict=True))
    what = f"HTTP door, format {version}, {size}"
    # Each round's ratio by itself: what else the machine does changes from one to the next.
    ratio = median(one / other for one, other in rounds)
    return Row(what, f"{mine * 1000:.2f} ms", f"{theirs * 1000:.2f} ms", ratio, _GOALS[size])


@contextmanager
def worker(handler: str, datazone: stand.DataZone) -> Iterator[Worker]:
    """Run the function `handler` ("module:name") in a process of its own, warm."""
    command = [sys.executable, "-m", "benchmarks.worker", handler]
    with subprocess.Popen(  # noqa: S603 - this interpreter
        command, env=datazone.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        asking, answering = process.stdin, process.stdout
        assert asking  # noqa: S101 - it was asked for
        assert answering  # noqa: S101 - the same

        def seconds(envelope: str, size: str, times: int) -> float:
            print(json.dumps([envelope, size, times]), file=asking, flush=True)
            return float(answering.readline())

        for size in events.BODIES:
            seconds(_ENVELOPES["1.0"], size, 2)
        yield seconds
        asking.close()


if __name__ == "__main__":
    stand.tell(measure())
