"""moto's queues, with a clock that can run faster than the one on the wall, and without their cost for each message.

With the clock one sees the backlog's hours of waiting in minutes. The functions know nothing of it: they ask for the
delays they always ask for, and these are over sooner.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moto.core.utils import unix_time_millis
from moto.sqs import models
from moto.sqs.models import SQSBackend, sqs_backends

from local.account import ACCOUNT, REGION

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


# Amazon SQS developer guide, "Available CloudWatch metrics for Amazon SQS": one received more often is left out of the
# age of the oldest.
_OFTEN = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What is in a queue; `oldest_seconds` is None where nothing is that counts."""

    visible: int
    not_visible: int
    oldest_seconds: float | None


def seen(name: str) -> Seen:
    """Look into the queue called `name`, by the clock that it goes by."""
    queue = sqs_backends[ACCOUNT][REGION].get_queue(name)
    messages = list(queue._messages)  # noqa: SLF001 - moto itself tells how many there are, and not how old they are
    sent = [float(one.sent_timestamp or 0) for one in messages if one.approximate_receive_count <= _OFTEN]
    now: float = models.unix_time_millis()  # type: ignore[attr-defined]  # there by an import of its own
    oldest = (now - min(sent)) / 1000 if sent else None
    return Seen(queue.approximate_number_of_messages, queue.approximate_number_of_messages_not_visible, oldest)
