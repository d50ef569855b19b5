"""What AWS counts by itself of functions and queues, as far as the template's alarms and dashboard look at it.

Sources: AWS Lambda developer guide, "Types of metrics for Lambda functions"; Amazon SQS developer guide, "Available
CloudWatch metrics for Amazon SQS".
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from local import queues
from local.metrics import Datum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# How often SQS sends its numbers.
MINUTE = 60.0


class Sink(Protocol):
    """Where numbers go."""

    def put(self, datum: Datum, value: float) -> None:
        """Take a value of a metric."""


class FunctionVitals:
    """The metrics of one function."""

    def __init__(self, function: str, sink: Sink) -> None:
        """Tell `sink` of the function called `function`."""
        self._dimensions = (("FunctionName", function),)
        self._sink = sink

    def invoked(self, seconds: float, *, failed: bool) -> None:
        """Count an invocation that ran for so long."""
        self._put("Invocations", "Count", 1)
        self._put("Errors", "Count", int(failed))
        self._put("Throttles", "Count", 0)
        self._put("Duration", "Milliseconds", round(seconds * 1000))

    def throttled(self) -> None:
        """Count an invocation for which there was no sandbox."""
        self._put("Throttles", "Count", 1)

    def of_stream(self, invoke: Callable[[object], object]) -> Callable[[Any], object]:
        """Give what invokes with records of a stream; the age counted is that of a batch's last record."""

        def invoked(event: Mapping[str, Any]) -> object:
            arrived = event["Records"][-1]["kinesis"]["approximateArrivalTimestamp"]
            self._put("IteratorAge", "Milliseconds", round((time.time() - arrived) * 1000))
            return invoke(event)

        return invoked

    def _put(self, name: str, unit: str, value: float) -> None:
        self._sink.put(Datum("AWS/Lambda", name, self._dimensions, unit, int(time.time())), value)


def of_queues(names: Iterable[str], sink: Sink) -> None:
    """Tell `sink` how much is in each queue. An empty one has no oldest message."""
    for name in names:
        seen = queues.seen(name)
        numbers = {
            "ApproximateNumberOfMessagesVisible": seen.visible,
            "ApproximateNumberOfMessagesNotVisible": seen.not_visible,
        }
        for metric, value in numbers.items():
            sink.put(Datum("AWS/SQS", metric, (("QueueName", name),), "Count", int(time.time())), value)
        if seen.oldest_seconds is not None:
            age = Datum("AWS/SQS", "ApproximateAgeOfOldestMessage", (("QueueName", name),), "Seconds", int(time.time()))
            sink.put(age, seen.oldest_seconds)
