"""What EventBridge does for a function with a schedule: it is invoked at each interval, in its own time.

Source: Amazon EventBridge user guide, "Schedule types": `rate(5 minutes)`. A rate is all that is understood here.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from local.account import ACCOUNT, REGION
from local.runtime import FunctionError, InitError, NoSandboxError
from local.template import TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable

    from local.template import EventSource

_RATE = re.compile(r"rate\((?P<number>[1-9]\d*) (?P<unit>minute|hour|day)s?\)")
_SECONDS = {"minute": 60, "hour": 60 * 60, "day": 24 * 60 * 60}
# A pass may take minutes when a service is slow; it is one that can be broken off.
_STOP_SECONDS = 2.0


def seconds(source: EventSource) -> float:
    """Give the interval of a function's event of type Schedule. Raises TemplateError for what is no rate."""
    rate = _RATE.fullmatch(str(source.properties["Schedule"]))
    if rate is None:
        raise TemplateError(f"{source.name}: only a schedule like rate(5 minutes) is understood here")
    return float(int(rate["number"]) * _SECONDS[rate["unit"]])


class Clockwork:
    """Invokes one function at its interval, one invocation after the other."""

    def __init__(self, every: float, invoke: Callable[[object], object]) -> None:
        """Invoke with `invoke` every so many seconds."""
        self._every = every
        self._invoke = invoke
        self._stop = Event()
        self._thread = Thread(target=self._run, name="schedule", daemon=True)

    def start(self) -> None:
        """Begin to count."""
        self._thread.start()

    def stop(self) -> None:
        """Begin nothing more, and give what runs some time to end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self._invoke(event())
            except (FunctionError, InitError, NoSandboxError):
                # Said in the function's log; it is invoked again at its time and not sooner.
                continue


def event() -> dict[str, Any]:
    """Make the event that EventBridge gives a function when it is time."""
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "region": REGION,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "resources": [],
        "detail": {},
    }
