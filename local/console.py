"""What a person at the terminal sees: a line for each event, made from the functions' own log lines.

Of an event there is no more than its run, job and type, as in the log itself.
"""

from __future__ import annotations

import json
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Console:
    """A terminal that several threads write whole lines to."""

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._lock = Lock()

    def say(self, text: str) -> None:
        """Write a line."""
        with self._lock:
            self._out.write(f"{text}\n")
            self._out.flush()

    def log(self, function: str, line: str) -> None:
        """Write a line of a function's log, rendered, if it is for people."""
        if (text := rendered(function, line)) is not None:
            self.say(text)


class Raw(Console):
    """A terminal that shows the functions' own lines, metrics included, as Lambda would keep them."""

    def log(self, function: str, line: str) -> None:
        """Write a line of a function's log as it is."""
        self.say(f"{function}: {line}")


class Trouble:
    """Says when a service begins to fail and when it is well again, and not each time it is asked."""

    def __init__(self, say: Callable[[str], None], service: str) -> None:
        """Say it of `service`."""
        self._say = say
        self._service = service
        self._lasting = False

    def seen(self, error: Exception) -> None:
        """Note a failure."""
        if not self._lasting:
            self._say(f"  {self._service} fails: {error}")
        self._lasting = True

    def over(self) -> None:
        """Note that all is well."""
        if self._lasting:
            self._say(f"  {self._service} answers again")
        self._lasting = False


# Lines that are about one event.
_EVENTS = ("event", "failed in datazone")


def rendered(function: str, line: str) -> str | None:
    """Render a line of the log of `function`; None for metrics, which are for machines."""
    try:
        entry = json.loads(line)
    except ValueError:
        entry = None
    if not isinstance(entry, dict):
        return _printable(f"  {function}: {line}")
    if "_aws" in entry:
        return None
    if entry.get("message") == "reconciled" and entry.get("level") == "INFO":
        # It comes all the time; what was found has lines of its own.
        return None
    return _printable(_event(entry) if entry.get("message") in _EVENTS else _other(function, entry))


def _event(entry: Mapping[str, Any]) -> str:
    size = f"{entry.get('bytes', 0):,} bytes"
    return f"{entry.get('door', ''):<8} {entry.get('outcome', ''):<10}{_reason(entry)} {_identity(entry)} {size}"


def _reason(entry: Mapping[str, Any]) -> str:
    reason = entry.get("code") or entry.get("cause")
    errors = [f"{error['rule']} at {error['path'] or 'the root'}" for error in entry.get("errors") or []]
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return (f" {reason}" if reason else "") + (f" ({errors[0]}{more})" if errors else "")


def _identity(entry: Mapping[str, Any]) -> str:
    job = f"{entry['job_namespace']}/{entry.get('job_name')}" if entry.get("job_namespace") else "no known job"
    run = f" run {entry['run_id']}" if entry.get("run_id") else ""
    return f"{entry.get('event_type') or 'event'} of {job}{run},"


def _other(function: str, entry: Mapping[str, Any]) -> str:
    about = {"exception", "where", "door", "bytes", "producer", "reason", "cause", "xray_trace_id"} & entry.keys()
    details = ", ".join(f"{name}: {entry[name]}" for name in sorted(about))
    return f"  {function}: {entry.get('level', '')} {entry.get('message', '')}" + (f" ({details})" if details else "")


def _printable(text: str) -> str:
    """Leave nothing in that moves the cursor; a job's name may hold anything."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
