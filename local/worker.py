"""One sandbox of a function: imports the handler, then answers one invocation at a time.

    python -m local.worker <handler> <file descriptor>

Started by local/runtime.py, which speaks through the descriptor: a JSON invocation in, a JSON answer out. Standard
output is the function's log, and standard input is open for as long as anybody wants the sandbox to live.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Mapping

READY = b"ready"


@dataclass(frozen=True, slots=True)
class Context:
    """Lambda's context object (AWS Lambda developer guide, "Using the Lambda context object").

    `deadline` is in seconds since 1970.
    """

    aws_request_id: str
    deadline: float
    function_name: str = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
    function_version: str = os.environ.get("AWS_LAMBDA_FUNCTION_VERSION", "")
    memory_limit_in_mb: str = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    invoked_function_arn: str = os.environ.get("AWS_LAMBDA_FUNCTION_ARN", "")
    log_group_name: str = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME", "")
    log_stream_name: str = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME", "")

    def get_remaining_time_in_millis(self) -> int:
        """Say how long this invocation may still run."""
        return max(0, int((self.deadline - time.time()) * 1000))


def serve(handler: Callable[[Any, Context], object], connection: Connection) -> None:
    """Answer invocations until there are no more."""
    connection.send_bytes(READY)
    while True:
        try:
            invocation = json.loads(connection.recv_bytes())
        except EOFError:
            return
        connection.send_bytes(_answer(handler, invocation))


def _answer(handler: Callable[[Any, Context], object], invocation: Mapping[str, Any]) -> bytes:
    context = Context(invocation["request_id"], invocation["deadline"])
    try:
        return json.dumps({"result": handler(invocation["event"], context)}).encode()
    except Exception as error:  # noqa: BLE001 - whatever a handler raises is a function error, and the sandbox lives on
        # An exception's message may hold values of the event; where it was raised does not.
        frames = [
            f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)
        ]
        return json.dumps({"error": type(error).__name__, "where": frames[1:]}).encode()


def _end_with_parent() -> None:
    # Not through sys.stdin, whose lock an interpreter that ends would wait for.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def main() -> None:
    """Be a sandbox."""
    name, descriptor = sys.argv[1:]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # A line of the log is seen when it is written.
    cast("io.TextIOWrapper", sys.stdout).reconfigure(line_buffering=True)
    module, _, attribute = name.rpartition(".")
    serve(getattr(importlib.import_module(module), attribute), Connection(int(descriptor)))


if __name__ == "__main__":
    main()
