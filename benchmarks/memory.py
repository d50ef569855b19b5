"""The most memory a function ever has, MB: `python -m benchmarks.memory`, each case in a process of its own."""

from __future__ import annotations

import base64
import gzip
import resource
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from benchmarks import events, stand
from benchmarks.row import Row
from benchmarks.stream import Context, batch

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 150
_LARGE = events.SIZES["290 KB"]


def _largest_batch() -> None:
    # 15 of these are 5.9 MB in base64; Lambda hands over 6 MB at most.
    _stream(batch([events.wide(_LARGE, run) for run in range(15)]))


def _compressed_batch() -> None:
    _stream(batch([gzip.compress(events.wide(_LARGE, run)) for run in range(150)]))


def _large_posts() -> None:
    _http(*[_post(events.wide(_LARGE, run)) for run in range(20)])


def _bomb_posted() -> None:
    _http(_post(gzip.compress(bytes(200_000_000))))


def _bombs_streamed() -> None:
    _stream(batch([gzip.compress(b" " * 6_000_000)] * 100))


_CASES: dict[str, Callable[[], None]] = {
    "the largest legal batch": _largest_batch,
    "a batch of 150 events of 290 KB, gzipped": _compressed_batch,
    "posts of 290 KB": _large_posts,
    "a bomb of 200 MB, posted": _bomb_posted,
    "a batch of 100 bombs": _bombs_streamed,
}


def _post(body: bytes) -> dict[str, Any]:
    encoded = base64.b64encode(body).decode()
    return {"httpMethod": "POST", "path": "/", "headers": {}, "body": encoded, "isBase64Encoded": True}


def _http(*posts: dict[str, Any]) -> None:
    from adapter.handlers.http import handler  # noqa: PLC0415 - builds its clients from the environment just made

    for post in posts:
        handler(post, None)


def _stream(event: dict[str, Any]) -> None:
    from adapter.handlers.kinesis import handler  # noqa: PLC0415 - the same

    handler(event, Context())


def measure() -> list[Row]:
    """Measure each case."""
    return [_row(case) for case in _CASES]


def _row(case: str) -> Row:
    command = [sys.executable, "-m", "benchmarks.memory", case]
    peak = float(subprocess.run(command, capture_output=True, check=True).stdout)  # noqa: S603 - this interpreter
    return Row(f"Peak memory, {case}", f"{peak:.0f} MB", "", peak, _MOST)


def _peak(case: str) -> float:
    with stand.datazone() as datazone:
        stand.function(datazone)
        _CASES[case]()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:]:
        print(_peak(sys.argv[1]), file=sys.__stdout__)
    else:
        stand.tell(measure())
