"""The local system as a process of its own, and what is done to it: faults, and kill -9 for its functions."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from local.system import client
from tests.integration.running import start

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from tests.integration.running import Running

FUNCTIONS = ("http", "kinesis", "backlog")

# What a sandbox that was killed with an invocation in it leaves on the terminal.
_DIED = re.compile(r"^ *(\w+)Function: \[ERROR\] Runtime exited", re.MULTILINE)


class Stand:
    """`python -m local` on free ports, with queues that run `speed` times as fast."""

    def __init__(self, speed: int, *parameters: str) -> None:
        """`parameters` are template.yaml's, as Name=Value."""
        self._speed = speed
        self._parameters = parameters
        self._folder = TemporaryDirectory()
        self._running: Running | None = None
        self.kills: Counter[str] = Counter()

    def __enter__(self) -> Self:
        """Start, and wait until everything answers."""
        terminal = Path(self._folder.name) / "terminal"
        self._running = start(terminal, *self._parameters, QUEUE_SPEED=str(self._speed))
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything."""
        self.running.stop()
        self._folder.cleanup()

    @property
    def running(self) -> Running:
        """The local system, from `__enter__` on."""
        if self._running is None:
            raise RuntimeError("the local system was not started")
        return self._running

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
        """Make a boto3 client that asks once."""
        return client(service, self.running.aws_url)

    def break_(self, *faults: Mapping[str, object]) -> None:
        """Have the services go wrong like that, and the others not."""
        self.running.faults("DELETE")
        for fault in faults:
            answer = self.running.faults("PUT", **fault)
            if answer.status != 200:
                raise ValueError(answer.body["message"])

    def kill(self, function: str, rng: Random) -> None:
        """End one sandbox of `function`, whatever it is doing."""
        if pids := self.running.children(f"adapter.handlers.{function}.handler"):
            with suppress(ProcessLookupError):
                os.kill(rng.choice(pids), signal.SIGKILL)
                self.kills[function] += 1

    def died(self) -> Counter[str]:
        """Count, by function, the killed sandboxes that had an invocation to lose."""
        return Counter(name.lower() for name in _DIED.findall(self.running.output()))
