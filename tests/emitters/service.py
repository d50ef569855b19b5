"""A program of an emitter's that runs beside a test: a scheduler, a server, a listener."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.emitters.environments import Environment

# Two cores that others use too: coming up, and a run.
SECONDS = 600.0
STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Service:
    """A running program; `terminal` is the file that holds what it and its processes say."""

    process: subprocess.Popen[bytes]
    terminal: Path

    def until[T](self, check: Callable[[], T]) -> T:
        """Ask `check` until it gives something true; fail, showing the terminal, when the program ends before."""
        deadline = time.monotonic() + SECONDS
        while not (found := check()):
            assert self.process.poll() is None, self.said()[-8000:]
            assert time.monotonic() < deadline, self.said()[-8000:]
            time.sleep(0.5)
        return found

    def said(self) -> str:
        """Give what is on the terminal so far."""
        return self.terminal.read_text(encoding="utf-8", errors="replace")


@contextmanager
def running(
    environment: Environment, *command: str, cwd: Path, terminal: Path, variables: Mapping[str, str]
) -> Iterator[Service]:
    """Run one of the environment's commands in `cwd`; it and all it started have ended afterwards."""
    with terminal.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - an emitter installed here
            [str(environment.home / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env=environment.variables(cwd) | dict(variables),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Service(process, terminal)
    finally:
        _stop(process)


def free_ports(count: int) -> list[int]:
    """Give ports of the loopback interface that nobody listens on just now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [cast("int", one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def listening(port: int) -> bool:
    """Say whether somebody listens on this port of the loopback interface."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and end what then is left of its session."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
