"""Wall time of a Kinesis batch, 400 events of 22 KB each in a run of its own, on one core and on half of one."""

from __future__ import annotations

import base64
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import events, stand
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_EVENTS = 400
_DELAY_MS = 100
_ROUNDS = 3
# The reference takes one event after the other: a part of the batch says how long the whole takes.
_PART = 20
_GOALS = {32: 28, 64: 45}
_HALF_A_CORE = 15
_CORE, _OTHER_CORE = 0, 1


class Context:
    """What the door asks of Lambda."""

    def get_remaining_time_in_millis(self) -> int:
        """Say that there is plenty."""
        return 300_000


def batch(data: list[bytes]) -> dict[str, Any]:
    """Make a Kinesis event of records."""
    return {
        "Records": [
            {
                "kinesis": {
                    "sequenceNumber": f"{place:056d}",
                    "partitionKey": "run:retail/orders",
                    "data": base64.b64encode(one).decode(),
                    "approximateArrivalTimestamp": 1_764_410_000.5,
                }
            }
            for place, one in enumerate(data)
        ]
    }


def fresh(count: int) -> list[bytes]:
    """Make `count` events of 22 KB that no container remembers."""
    base = time.time_ns()
    return [events.wide(events.SIZES["22 KB"], base + number) for number in range(count)]


def seconds[**P](step: Callable[P, object], *args: P.args, **more: P.kwargs) -> float:
    """Give the wall seconds of `step`."""
    started = time.perf_counter()
    step(*args, **more)
    return time.perf_counter() - started


def measure() -> list[Row]:
    """Measure both numbers of lanes on a core, and the larger on half of one."""
    with stand.datazone(_DELAY_MS, core=_OTHER_CORE) as datazone:
        stand.function(datazone)
        os.sched_setaffinity(0, {_CORE})
        whole = {lanes: _on_a_core(lanes) for lanes in _GOALS}
        rows = [row for lanes, goal in _GOALS.items() for row in _rows(lanes, goal, *whole[lanes])]
        with half_a_core() as halved:
            if halved:
                ours, theirs, _ = _on_a_core(64)
                rows.append(_row("Kinesis batch, half a core, 64 lanes", ours, theirs, _HALF_A_CORE))
        return rows


def _on_a_core(lanes: int) -> tuple[float, float, float]:
    """Give the wall seconds of a batch, ours and the reference's, and the processor seconds of ours."""
    from adapter import bootstrap  # noqa: PLC0415 - builds its clients from the environment just made
    from benchmarks import reference  # noqa: PLC0415 - the same

    door = bootstrap.kinesis(os.environ | {"LANES": str(lanes)})
    door(batch(fresh(lanes * 2)), Context())  # connections, as a warm container has them
    reference.kinesis(batch(fresh(1)), None)
    ours, theirs, busy = [], [], []
    for _ in range(_ROUNDS):
        whole, part, before = batch(fresh(_EVENTS)), batch(fresh(_PART)), time.process_time()
        ours.append(seconds(door, whole, Context()))
        busy.append(time.process_time() - before)
        theirs.append(seconds(reference.kinesis, part, None) * _EVENTS / _PART)
    return median(ours), median(theirs), median(busy)


def _rows(lanes: int, goal: float, ours: float, theirs: float, busy: float) -> Iterator[Row]:
    yield _row(f"Kinesis batch, one core, {lanes} lanes", ours, theirs, goal)
    waiting = _EVENTS / lanes * _DELAY_MS / 1000
    if waiting > busy:
        what = f"Kinesis batch, {lanes} lanes, against waiting alone"
        yield Row(what, f"{ours:.2f} s", f"{waiting:.2f} s", ours / waiting, 1.15)


def _row(what: str, ours: float, theirs: float, goal: float) -> Row:
    return Row(what, f"{ours:.2f} s", f"{theirs:.1f} s", theirs / ours, at_least=goal)


@contextmanager
def half_a_core() -> Iterator[bool]:
    """Put this process under a quota of half a core by a control group; False where none may be made (not root)."""
    group = Path("/sys/fs/cgroup/cpu/lineage-adapter-bench")
    unified = Path("/sys/fs/cgroup/lineage-adapter-bench")
    try:
        if group.parent.is_dir():
            group.mkdir(exist_ok=True)
            (group / "cpu.cfs_period_us").write_text("100000")
            (group / "cpu.cfs_quota_us").write_text("50000")
        else:
            group = unified
            group.mkdir(exist_ok=True)
            (group / "cpu.max").write_text("50000 100000")
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        print(f"no quota: {error}", file=sys.stderr)  # noqa: T201 - tells why a row is missing
        yield False
        return
    yield True
    (group.parent / "cgroup.procs").write_text(str(os.getpid()))
    group.rmdir()


if __name__ == "__main__":
    stand.tell(measure())
