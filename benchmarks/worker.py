"""A function that is measured: `python -m benchmarks.worker MODULE:NAME` handles events as it is told on its input.

Each line is a JSON array: an envelope of events/envelopes, a size of benchmarks.events.BODIES, and how many times to
handle each event of it. The answer is the processor seconds of one event.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchmarks import events

if TYPE_CHECKING:
    from collections.abc import Callable

_DELIVERED = 200


def main(name: str) -> None:
    """Answer until the input ends."""
    # What it logs goes where it costs what a pipe costs; only answers go to whoever asks.
    answers, sys.stdout = sys.stdout, open("/dev/null", "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as long as the process lives
    module, _, function = name.partition(":")
    handler = getattr(import_module(module), function)
    for line in sys.stdin:
        envelope, size, times = json.loads(line)
        posts = [post(envelope, body) for body in events.BODIES[size]()] * times
        print(_seconds(handler, posts) / len(posts), file=answers, flush=True)


def _seconds(handler: Callable[[Any, Any], dict[str, Any]], posts: list[dict[str, Any]]) -> float:
    started = time.process_time()
    for post in posts:
        if handler(post, None)["statusCode"] != _DELIVERED:
            raise ValueError("not delivered: there is nothing to measure")
    return time.process_time() - started


def post(envelope: str, body: bytes) -> dict[str, Any]:
    """Put `body` into an envelope of events/envelopes."""
    read: dict[str, Any] = json.loads((events.EVENTS / "envelopes" / envelope).read_bytes())
    return read | {"body": body.decode()}


if __name__ == "__main__":
    main(sys.argv[1])
