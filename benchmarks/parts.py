"""Where the warm time of one event at the HTTP door goes: `python -m benchmarks.parts`, processor time in microseconds.

The parts are measured by themselves, over and over, so that they find the processor's caches warm; in the whole they do
not, and the whole is more than their sum.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from functools import partial
from hashlib import sha256
from statistics import median
from typing import TYPE_CHECKING, Any

from adapter.accept import accept
from adapter.model import Call, Delivered, Received, RunEvent, Source, Times
from benchmarks import events, stand
from benchmarks.worker import post

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapter.doors.http import HttpDoor
    from adapter.ingest import Ingest

_ROUNDS, _TIMES = 15, 40
_FAR = 10.0


class _NoDataZone:
    """Takes an event at once."""

    def deliver(self, event: RunEvent, deadline: float) -> Delivered:
        del deadline
        return Delivered("abcdefghij1234", "dzd_1", event.client_token, event.warnings)


def measure(size: str) -> dict[str, float]:
    """Give the microseconds of each part for an event of `size`."""
    from adapter.handlers.http import handler  # noqa: PLC0415 - builds its clients from the environment just made
    from benchmarks import reference  # noqa: PLC0415 - the same

    [body] = events.BODIES[size]()
    posted = post("http-v1.json", body)
    call = partial(
        reference.client.post_lineage_event, domainIdentifier="dzd_1", event=body, clientToken=_token(body.decode())
    )
    parts: dict[str, Callable[[], object]] = {
        **_ours(handler, body, posted),
        "reference: parsing, sorting, hashing": partial(_token, body.decode()),
        "reference: boto3's call": call,
        "reference: whole": partial(reference.http, posted, None),
    }
    spent: dict[str, list[float]] = {name: [] for name in parts}
    for _ in range(_ROUNDS):
        for name, part in parts.items():
            spent[name].append(stand.cpu_seconds(_repeat, part) / _TIMES * 1e6)
    return {name: median(some) for name, some in spent.items()}


def _ours(handler: HttpDoor, body: bytes, posted: dict[str, Any]) -> dict[str, Callable[[], object]]:
    event, ingest = accept(body), handler.ingest
    assert isinstance(event, RunEvent)  # noqa: S101 - they are all valid
    without = replace(handler, ingest=replace(ingest, lineage=_NoDataZone()))
    return {
        "judging": partial(accept, body),
        "log line and metrics": partial(_told, ingest, Received(body, Source.HTTP), event),
        "boto3's call": lambda: ingest.lineage.deliver(event, time.monotonic() + _FAR),
        "all but boto3's call": partial(without, posted, None),
        "whole": partial(handler, posted, None),
    }


def _token(body: str) -> str:
    return sha256(json.dumps(json.loads(body), sort_keys=True).encode()).hexdigest()


def _told(ingest: Ingest, received: Received, event: RunEvent) -> None:
    outcome = Delivered("abcdefghij1234", "dzd_1", event.client_token, calls=(Call(0.1),))
    ingest.records.event(received, event, outcome, Times(0.0001, 0.1))
    ingest.records.flush()


def _repeat(part: Callable[[], object]) -> None:
    for _ in range(_TIMES):
        part()


def main() -> None:
    """Print a table."""
    with stand.datazone() as datazone:
        stand.function(datazone)
        measured = {size: measure(size) for size in events.SIZES}
    print(f"| µs of | {' | '.join(measured)} |\n|---{'|---' * len(measured)}|", file=sys.__stdout__)
    for part in next(iter(measured.values())):
        print(f"| {part} | {' | '.join(f'{some[part]:.0f}' for some in measured.values())} |", file=sys.__stdout__)


if __name__ == "__main__":
    main()
