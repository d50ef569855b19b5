"""moto's queues, with a clock that can run faster than the one on the wall, and without their cost for each message.

With the clock one sees the backlog's hours of waiting in minutes. The functions know nothing of it: they ask for the
delays they always ask for, and these are over sooner.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from moto.core.utils import unix_time_millis
from moto.sqs import models
from moto.sqs.models import SQSBackend

if TYPE_CHECKING:
    from datetime import datetime

    from moto.sqs.models import Message


def hurry(times: float) -> None:
    """Have SQS's visibility timeouts and delays pass `times` as fast, in this process and from now on.

    How long messages are retained stays as it is.
    """
    started = time.time() * 1000

    def hurried(dt: datetime | None = None) -> float:
        now = unix_time_millis(dt) if dt else time.time() * 1000
        return started + (now - started) * times

    models.unix_time_millis = hurried  # type: ignore[attr-defined]  # there by an import of its own


def lighten() -> None:
    """Look at one attribute of a queue where moto computes all of them, for each message that is received.

    Among them is how many messages it holds: the cost of an outage's thousands of messages went by their square.
    """
    SQSBackend.is_message_valid_based_on_retention_period = _is_retained  # type: ignore[assignment, method-assign]  # in place of it


def _is_retained(backend: SQSBackend, queue_name: str, message: Message) -> bool:
    retention: int = backend.get_queue(queue_name).message_retention_period  # type: ignore[attr-defined]  # set by name
    return float(message.sent_timestamp or 0) / 1000 + retention > time.time()
