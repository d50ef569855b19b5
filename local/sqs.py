"""The SQS poller: gives messages to the function and deletes those it is done with.

Source: AWS Lambda developer guide, "Using Lambda with Amazon SQS" and "Reporting batch item failures for Amazon SQS".
What is not deleted comes again when its visibility timeout is over, and the queue itself moves it to the dead-letter
queue when it came too often.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from local.account import REGION
from local.runtime import FunctionError, InitError, NoSandboxError, PayloadTooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import DeleteMessageBatchRequestEntryTypeDef, MessageTypeDef

    from local.console import Trouble
    from local.template import EventSource

# Between two looks at an empty queue.
_IDLE_SECONDS = 0.2
# After SQS did not answer.
_TROUBLE_SECONDS = 1.0
# The most that SQS gives at once.
_RECEIVE = 10


@dataclass(frozen=True, slots=True)
class QueueMapping:
    """An event source mapping of a queue; `window` in seconds."""

    queue_arn: str
    batch_size: int = 10
    window: float = 0
    concurrency: int = 2
    reports_failures: bool = False


class QueuePoller:
    """One event source mapping of a queue."""

    def __init__(
        self,
        mapping: QueueMapping,
        url: str,
        sqs: SQSClient,
        invoke: Callable[[object], object],
        trouble: Trouble,
    ) -> None:
        """Receive from the queue at `url`, give batches to `invoke`, and tell `trouble` how SQS does."""
        self._mapping = mapping
        self._url = url
        self._sqs = sqs
        self._invoke = invoke
        self._trouble = trouble
        self._stopping = Event()

    def start(self) -> None:
        """Begin, with as many batches at the same time as the mapping allows."""
        for _ in range(self._mapping.concurrency):
            Thread(target=self._work, daemon=True).start()

    def stop(self) -> None:
        """Receive nothing more."""
        self._stopping.set()

    def _work(self) -> None:
        while not self._stopping.is_set():
            if batch := self._batch():
                self._delete(done(self._invoked(batch), batch))
            else:
                self._stopping.wait(_IDLE_SECONDS)

    def _batch(self) -> list[MessageTypeDef]:
        """Gather messages until the batch is full or the window closed."""
        closes = time.monotonic() + self._mapping.window
        batch = self._receive(self._mapping.batch_size)
        while len(batch) < self._mapping.batch_size and time.monotonic() < closes:
            if self._stopping.wait(_IDLE_SECONDS):
                break
            batch += self._receive(self._mapping.batch_size - len(batch))
        return batch

    def _receive(self, at_most: int) -> list[MessageTypeDef]:
        try:
            answer = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=min(_RECEIVE, at_most),
                MessageSystemAttributeNames=["All"],
                WaitTimeSeconds=0,
            )
        except (BotoCoreError, ClientError) as error:
            self._trouble.seen(error)
            self._stopping.wait(_TROUBLE_SECONDS)
            return []
        self._trouble.over()
        return answer.get("Messages", [])

    def _invoked(self, batch: Sequence[MessageTypeDef]) -> object:
        """Give what the function returned; where it failed, a response that reports everything."""
        try:
            answer = self._invoke(event(batch, self._mapping.queue_arn))
        except (FunctionError, InitError, NoSandboxError, PayloadTooLargeError):
            return {"batchItemFailures": [{"itemIdentifier": message["MessageId"]} for message in batch]}
        return answer if self._mapping.reports_failures else None

    def _delete(self, messages: Sequence[MessageTypeDef]) -> None:
        for start in range(0, len(messages), _RECEIVE):
            entries: list[DeleteMessageBatchRequestEntryTypeDef] = [
                {"Id": str(place), "ReceiptHandle": message["ReceiptHandle"]}
                for place, message in enumerate(messages[start : start + _RECEIVE])
            ]
            while not self._deleted(entries) and not self._stopping.wait(_TROUBLE_SECONDS):
                pass

    def _deleted(self, entries: Sequence[DeleteMessageBatchRequestEntryTypeDef]) -> bool:
        try:
            self._sqs.delete_message_batch(QueueUrl=self._url, Entries=entries)
        except (BotoCoreError, ClientError) as error:
            self._trouble.seen(error)
            return False
        return True


def done(answer: object, batch: Sequence[MessageTypeDef]) -> list[MessageTypeDef]:
    """Give the messages that a partial batch response does not report; none of them when it is not one."""
    if not answer:
        return list(batch)
    if not isinstance(answer, dict):
        return []
    try:
        failed = {failure["itemIdentifier"] for failure in answer.get("batchItemFailures") or []}
    except (KeyError, TypeError):
        return []
    known = {message["MessageId"] for message in batch}
    return [message for message in batch if message["MessageId"] not in failed] if failed <= known else []


def event(messages: Sequence[MessageTypeDef], queue_arn: str) -> dict[str, Any]:
    """Put messages into the event a function gets."""
    return {"Records": [_event_record(message, queue_arn) for message in messages]}


def _event_record(message: MessageTypeDef, queue_arn: str) -> Mapping[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }


def mapping(source: EventSource) -> QueueMapping:
    """Read a function's event of type SQS."""
    said = source.properties
    return QueueMapping(
        queue_arn=said["Queue"],
        batch_size=int(said.get("BatchSize", 10)),
        window=float(said.get("MaximumBatchingWindowInSeconds", 0)),
        concurrency=int(said.get("ScalingConfig", {}).get("MaximumConcurrency", 2)),
        reports_failures="ReportBatchItemFailures" in said.get("FunctionResponseTypes", []),
    )
