"""Functions run as Lambda runs them: sandboxes of their own, one invocation at a time, killed when they take too long.

A sandbox is a process. It starts when an invocation finds none idle, as on Lambda, and one that dies is replaced by
the next invocation that needs it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path
from threading import Lock, Semaphore, Thread
from typing import TYPE_CHECKING, Any, Protocol

from local.worker import READY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# AWS Lambda developer guide, "Lambda quotas": synchronous payloads; and "Lambda execution environment": Init phase.
PAYLOAD_BYTES = 6 * 1024 * 1024
INIT_SECONDS = 10
# Between the end of a sandbox's connection and its own.
_END_SECONDS = 10

_ROOT = Path(__file__).parents[1]


class FunctionError(Exception):
    """The invocation failed: its handler raised, its sandbox died or it took too long. The message says which."""


class InitError(Exception):
    """A sandbox did not come up; what it said is on standard error."""


class PayloadTooLargeError(Exception):
    """The event is larger than what Lambda takes."""


class NoSandboxError(Exception):
    """All sandboxes were busy for too long, or there are to be no more."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a sandbox runs: `handler` as `package.module.name`, `timeout` in seconds, the whole environment."""

    name: str
    handler: str
    timeout: float
    environment: Mapping[str, str]


class Vitals(Protocol):
    """Who is told how a function does."""

    def invoked(self, seconds: float, *, failed: bool) -> None:
        """Note an invocation that ran for so long."""

    def throttled(self) -> None:
        """Note an invocation for which there was no sandbox."""


class _Untold:
    def invoked(self, seconds: float, *, failed: bool) -> None:
        del seconds, failed

    def throttled(self) -> None:
        pass


class Runtime:
    """The sandboxes of one function. Safe to share among threads."""

    def __init__(self, program: Program, size: int, log: Callable[[str], None], vitals: Vitals | None = None) -> None:
        """Have at most `size` sandboxes; `log` is given each line they write, without its end."""
        self._program = program
        self._log = log
        self._vitals = vitals or _Untold()
        self._size = size
        self._slots = Semaphore(size)
        self._lock = Lock()
        self._idle: deque[_Sandbox] = deque()
        self._living: set[_Sandbox] = set()
        self._stopped = False

    def warm(self) -> None:
        """Start the first sandbox. Raises InitError."""
        self._idle.append(self._start())

    def invoke(self, event: object, patience: float | None = None) -> Any:  # noqa: ANN401 - a handler returns any JSON
        """Have `event` handled, waiting up to `patience` seconds for a sandbox, and give what the handler returned.

        Raises FunctionError, PayloadTooLargeError, NoSandboxError, and InitError when a new sandbox does not come up.
        """
        payload = json.dumps(event)
        if len(payload) > PAYLOAD_BYTES:
            raise PayloadTooLargeError(f"{self._program.name}: the event is over {PAYLOAD_BYTES} bytes")
        if not self._slots.acquire(timeout=patience):
            self._vitals.throttled()
            raise NoSandboxError(f"{self._program.name}: all sandboxes are busy")
        try:
            return self._invoke(payload)
        except InitError:
            self._vitals.invoked(0.0, failed=True)
            raise
        finally:
            self._slots.release()

    def pids(self) -> list[int]:
        """Give the process ids of the living sandboxes."""
        with self._lock:
            return [sandbox.pid for sandbox in self._living]

    def stop(self, patience: float = 0.0) -> None:
        """Let what runs end within `patience` seconds, begin nothing more, and leave no process behind."""
        deadline = time.monotonic() + patience
        for _ in range(self._size):
            self._slots.acquire(timeout=max(0.0, deadline - time.monotonic()))
        with self._lock:
            self._stopped = True
            living = list(self._living)
        for sandbox in living:
            sandbox.kill()

    def _invoke(self, payload: str) -> Any:  # noqa: ANN401 - a handler returns any JSON
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        sandbox = idle or self._start()
        began, failed = time.monotonic(), False
        try:
            return sandbox.invoke(payload)
        except FunctionError as error:
            failed = True
            self._log(f"[ERROR] {error}")
            raise
        finally:
            self._vitals.invoked(time.monotonic() - began, failed=failed)
            with self._lock:
                (self._idle.append if sandbox.alive else self._living.discard)(sandbox)

    def _start(self) -> _Sandbox:
        with self._lock:
            if self._stopped:
                raise NoSandboxError(f"{self._program.name}: stopped")
            sandbox = _Sandbox(self._program, self._log)
            self._living.add(sandbox)
        try:
            sandbox.wait_until_ready()
        except InitError:
            with self._lock:
                self._living.discard(sandbox)
            raise
        return sandbox


class _Sandbox:
    """One process. Used by one thread at a time, except for `kill`."""

    def __init__(self, program: Program, log: Callable[[str], None]) -> None:
        self._program = program
        self._connection, theirs = Pipe()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, on our own module
            [sys.executable, "-m", "local.worker", program.handler, str(theirs.fileno())],
            cwd=_ROOT,
            env=program.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            # Ctrl-C is for the local system, which ends its sandboxes in its own time.
            start_new_session=True,
        )
        theirs.close()
        self.alive = True
        Thread(target=self._pump, args=[log], daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_ready(self) -> None:
        try:
            ready = self._connection.poll(INIT_SECONDS) and self._connection.recv_bytes() == READY
        except (EOFError, OSError):
            ready = False
        if not ready:
            self.kill()
            raise InitError(f"{self._program.name}: {self._program.handler} did not come up")

    def invoke(self, payload: str) -> Any:  # noqa: ANN401 - a handler returns any JSON
        deadline = time.time() + self._program.timeout
        request = f'{{"request_id": "{uuid.uuid4()}", "deadline": {deadline}, "event": {payload}}}'
        try:
            self._connection.send_bytes(request.encode())
            answer = self._connection.recv_bytes() if self._connection.poll(self._program.timeout) else None
        except (EOFError, OSError) as error:
            # It has closed its end, and is about to say with which code it ends.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
            self.kill()
            raise FunctionError(f"Runtime exited with code {self._process.returncode}") from error
        if answer is None:
            self.kill()
            raise FunctionError(f"Task timed out after {self._program.timeout} seconds")
        return self._result(answer)

    def _result(self, answer: bytes) -> Any:  # noqa: ANN401 - a handler returns any JSON
        if len(answer) > PAYLOAD_BYTES:
            raise FunctionError("the answer is too large")
        told = json.loads(answer)
        if "error" in told:
            raise FunctionError(f"{told['error']} at {', '.join(told['where'])}")
        return told["result"]

    def kill(self) -> None:
        self.alive = False
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            self._process.stdin.close()

    def _pump(self, log: Callable[[str], None]) -> None:
        if self._process.stdout:
            with self._process.stdout as lines:
                for line in lines:
                    log(line.decode("utf-8", "replace").rstrip("\n"))
