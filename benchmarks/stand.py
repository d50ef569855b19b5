"""Where everything is measured: a stand-in DataZone in a process of its own, and the environment of a function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from statistics import median
from typing import TYPE_CHECKING, Any

from tests.artefact import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.row import Row

# Both programs get the same: the functions' variables, and credentials as Lambda gives them.
_FUNCTION = ENVIRONMENT | {
    "ACCESS": "open",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "AWS_SESSION_TOKEN": "x" * 800,
    "POWERTOOLS_METRICS_NAMESPACE": "LineageAdapter",
    "POWERTOOLS_SERVICE_NAME": "lineage-adapter",
}


class DataZone:
    """The stand-in, seen from who measures."""

    def __init__(self, port: int) -> None:
        """Know it by its port."""
        self._port = port

    @property
    def environment(self) -> dict[str, str]:
        """Give the variables of a function that finds the stand-in in AWS's place."""
        return _FUNCTION | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}"}

    def counted(self) -> dict[str, Any]:
        """Give what it took and throttled since the last time, and in how many seconds."""
        connection = HTTPConnection("127.0.0.1", self._port)
        connection.request("GET", "/")
        counted: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return counted


@contextmanager
def datazone(delay_ms: float = 0, limit: float = 0, core: int | None = None) -> Iterator[DataZone]:
    """Run the stand-in, on `core` if one is given."""
    command = [sys.executable, "-m", "benchmarks.datazone", str(delay_ms), str(limit)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - this interpreter
        if core is not None:
            os.sched_setaffinity(process.pid, {core})
        assert process.stdout  # noqa: S101 - it was asked for
        try:
            yield DataZone(int(process.stdout.readline()))
        finally:
            process.kill()


def function(stand_in: DataZone) -> None:
    """Make this process a function's: its environment, and its log where it costs what a pipe costs."""
    os.environ.update(stand_in.environment)
    # Both write their log to the same descriptor; only what a measurement tells goes to the terminal.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as long as the process lives


def tell(rows: list[Row]) -> None:
    """Print what a measurement found, for benchmarks/__main__.py or a reader."""
    print(json.dumps([row.told() for row in rows], indent=1), file=sys.__stdout__)


def cpu_seconds[**P](step: Callable[P, object], *args: P.args, **more: P.kwargs) -> float:
    """Give the processor time that this process takes for `step`."""
    started = time.process_time()
    step(*args, **more)
    return time.process_time() - started


def side_by_side(
    ours: Callable[[], object], theirs: Callable[[], object], times: int, rounds: int
) -> tuple[float, float]:
    """Give the median processor seconds of one call of each, called `times` in turn for `rounds` rounds."""
    measured = [(cpu_seconds(_repeat, ours, times), cpu_seconds(_repeat, theirs, times)) for _ in range(rounds)]
    return median(one for one, _ in measured) / times, median(other for _, other in measured) / times


def _repeat(step: Callable[[], object], times: int) -> None:
    for _ in range(times):
        step()
