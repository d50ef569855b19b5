"""Tiny functions for the local runtime to run."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local.worker import Context


def echo(event: Any, context: Context) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    """Say what came, where, and how long it may still take."""
    print(f"echo in {os.getpid()}")  # noqa: T201 - a function's log
    return {
        "event": event,
        "pid": os.getpid(),
        "environment": dict(os.environ),
        "remaining": context.get_remaining_time_in_millis(),
        "request_id": context.aws_request_id,
        "name": context.function_name,
        "memory": context.memory_limit_in_mb,
    }


def behave(event: dict[str, Any], context: Context) -> object:
    """Do what the event says."""
    del context
    match event:
        case {"sleep": seconds}:
            print("sleeps")  # noqa: T201 - a function's log
            time.sleep(seconds)
        case {"raise": message}:
            raise ValueError(message)
        case {"exit": code}:
            sys.exit(code)
        case {"kill": True}:
            os.kill(os.getpid(), signal.SIGKILL)
        case {"answer_bytes": size}:
            return "x" * size
        case {"unserializable": True}:
            return {1, 2}
        case _:
            pass
    return os.getpid()
