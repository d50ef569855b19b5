"""Processor time to say no, against saying yes to an event of the same size."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from adapter.accept import accept
from benchmarks import events, stand
from benchmarks.row import Row

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 9
_SMALL, _LARGE = events.SIZES["1 KB"], events.SIZES["290 KB"]
_OVERSIZED = 700


def measure() -> list[Row]:
    """Measure the judge against the whole yes, and the whole no, with its three objects in S3, too."""
    with stand.datazone() as datazone:
        stand.function(datazone)
        from adapter.handlers.http import handler  # noqa: PLC0415 - builds its clients from the environment just made

        def said(event: bytes) -> Callable[[], Any]:
            post = {"httpMethod": "POST", "path": "/", "headers": {}, "body": event.decode("latin-1")}
            # Delivered or refused and kept; what goes to the backlog instead is another way with another price.
            assert handler(post, None)["statusCode"] != HTTPStatus.ACCEPTED  # noqa: S101 - or nothing here means anything
            return lambda: handler(post, None)

        rows = []
        for what, no, yes in _cases():
            times = 50 if len(no) < 100_000 else 5  # noqa: PLR2004 - the large ones take long enough
            judged, kept = lambda no=no: accept(no), said(no)
            ours, whole = stand.side_by_side(judged, said(yes), times, _ROUNDS)
            rows.append(Row(f"{what}: judged", _ms(ours), _ms(whole), ours / whole, 1.0))
            ours, whole = stand.side_by_side(kept, said(yes), times, _ROUNDS)
            rows.append(Row(f"{what}: judged and quarantined", _ms(ours), _ms(whole), ours / whole, 1.0))
        return rows


def _cases() -> list[tuple[str, bytes, bytes]]:
    small, large = events.wide(_SMALL), events.wide(_LARGE)
    return [
        ("No JSON, 1 KB", small[:-1], small),
        ("2-0-2 violated, 1 KB", _without(small, "eventTime"), small),
        ("2-0-2 violated, 290 KB", _without(large, "eventTime"), large),
        ("A key twice, 290 KB", large[:-1] + b',"run":{}}', large),
        ("Too large, 320 KB", events.wide(_OVERSIZED), large),
    ]


def _without(event: bytes, key: str) -> bytes:
    parsed = json.loads(event)
    del parsed[key]
    return json.dumps(parsed, separators=(",", ":")).encode()


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f} ms"


if __name__ == "__main__":
    stand.tell(measure())
