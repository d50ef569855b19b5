"""The backlog's door: what could not be delivered when it came is tried again, later each time.

SQS redelivers what a partial batch response names (AWS Lambda developer guide, "Reporting batch item failures for
Amazon SQS") once its visibility timeout is over, and moves it to the dead-letter queue after backlog.TRIES.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from adapter import backlog
from adapter.body import opened
from adapter.doors.kinesis import ANSWER_SECONDS, Context, PartialResponse, guarded
from adapter.model import Deferred, Source

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapter.ingest import Ingest
    from adapter.lanes import Lanes
    from adapter.model import Received


class Queue(Protocol):
    """Where the messages came from."""

    def postpone(self, receipt_handle: str, seconds: int) -> None:
        """Have a message come again after `seconds`."""


@dataclass(frozen=True, slots=True)
class BacklogDoor:
    """Messages to events, events through the lanes, what has to wait longer to a later try."""

    ingest: Ingest
    lanes: Lanes
    queue: Queue

    def __call__(self, event: Mapping[str, Any], context: Context) -> PartialResponse:
        """Take one SQS event; answer with a partial batch response (ReportBatchItemFailures). Never raises."""
        return guarded(lambda: self._taken(event, context), context, self.ingest.records)

    def _taken(self, event: Mapping[str, Any], context: Context) -> PartialResponse:
        deadline = time.monotonic() + context.get_remaining_time_in_millis() / 1000 - ANSWER_SECONDS
        messages = event["Records"]
        self.ingest.records.batch(Source.BACKLOG, len(messages))
        outcomes = self.lanes.run([_received(message) for message in messages], deadline)
        self.ingest.records.flush()
        waiting = [
            (message, outcome)
            for message, outcome in zip(messages, outcomes, strict=True)
            if isinstance(outcome, Deferred)
        ]
        self.lanes.map(lambda pair: self._postpone(*pair), waiting)
        return {"batchItemFailures": [{"itemIdentifier": message["messageId"]} for message, _ in waiting]}

    def _postpone(self, message: Mapping[str, Any], outcome: Deferred) -> None:
        attempt = int(message["attributes"]["ApproximateReceiveCount"])
        self.queue.postpone(message["receiptHandle"], max(backlog.delay(attempt), int(outcome.retry_after or 0)))


def _received(message: Mapping[str, Any]) -> Received:
    """Read one message; a body that its door could not even unwrap is still as compressed as it came."""
    told = replace(backlog.received(message["body"]), ids={"message_id": message["messageId"]})
    if told.refused:
        return told
    raw = opened(told.raw, told.source)
    return replace(told, raw=raw.raw, refused=raw.refused)
