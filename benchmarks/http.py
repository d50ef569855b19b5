"""Processor time of one event at the HTTP door, the whole handler, against the reference."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks import events, stand
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 9
_GOALS = {"1 KB": 1.0, "22 KB": 1.0, "290 KB": 1.1, "the samples": 1.0}
_TIMES = {"1 KB": 60, "22 KB": 40, "290 KB": 8, "the samples": 2}
_DELIVERED = 200
_ENVELOPES = {"1.0": "http-v1.json", "2.0": "http-v2.json"}


def measure() -> list[Row]:
    """Measure each size in both payload formats."""
    with stand.datazone() as datazone:
        stand.function(datazone)
        from adapter.handlers.http import handler  # noqa: PLC0415 - builds its clients from the environment just made
        from benchmarks import reference  # noqa: PLC0415 - the same

        rows = []
        for version, envelope in _ENVELOPES.items():
            for size, bodies in _bodies().items():
                posts = [_envelope(envelope, body) for body in bodies]
                ours, theirs = stand.side_by_side(
                    partial(_each, handler, posts), partial(_each, reference.http, posts), _TIMES[size], _ROUNDS
                )
                each = 1000 / len(posts)
                what = f"HTTP door, format {version}, {size}"
                rows.append(Row(what, f"{ours * each:.2f} ms", f"{theirs * each:.2f} ms", ours / theirs, _GOALS[size]))
        return rows


def _each(handler: Callable[[Any, Any], dict[str, Any]], posts: list[dict[str, Any]]) -> None:
    for post in posts:
        if handler(post, None)["statusCode"] != _DELIVERED:
            raise ValueError("not delivered: there is nothing to measure")


def _bodies() -> dict[str, list[bytes]]:
    return {size: [events.wide(columns)] for size, columns in events.SIZES.items()} | {"the samples": events.real()}


def _envelope(name: str, body: bytes) -> dict[str, Any]:
    envelope: dict[str, Any] = json.loads((events.EVENTS / "envelopes" / name).read_bytes())
    return envelope | {"body": body.decode()}


if __name__ == "__main__":
    stand.tell(measure())
