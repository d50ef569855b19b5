"""The local AWS counts of functions and queues what AWS counts of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import boto3
from moto import mock_aws

from local import queues, vitals
from local.account import ACCESS_KEY, SECRET_KEY
from local.vitals import FunctionVitals

if TYPE_CHECKING:
    from local.metrics import Datum


class Sink:
    def __init__(self) -> None:
        self.said: list[tuple[str, float]] = []
        self.dimensions: set[tuple[tuple[str, str], ...]] = set()

    def put(self, datum: Datum, value: float) -> None:
        self.said.append((datum.name, value))
        self.dimensions.add(datum.dimensions)


def test_an_invocation_is_counted_with_its_milliseconds_and_whether_it_failed() -> None:
    sink = Sink()
    function = FunctionVitals("fn", sink)
    function.invoked(0.25, failed=False)
    function.invoked(1, failed=True)
    function.throttled()
    assert sink.said == [
        *[("Invocations", 1), ("Errors", 0), ("Throttles", 0), ("Duration", 250)],
        *[("Invocations", 1), ("Errors", 1), ("Throttles", 0), ("Duration", 1000)],
        ("Throttles", 1),
    ]
    assert sink.dimensions == {(("FunctionName", "fn"),)}


def test_a_batch_is_as_old_as_its_last_record() -> None:
    sink = Sink()
    now = time.time()
    event = {"Records": [{"kinesis": {"approximateArrivalTimestamp": now - age}} for age in (90, 60)]}
    assert FunctionVitals("fn", sink).of_stream(lambda given: given)(event) is event
    ((name, milliseconds),) = sink.said
    assert name == "IteratorAge"
    assert 60_000 <= milliseconds < 65_000


def test_a_queue_is_as_old_as_its_oldest_message_that_was_not_received_often() -> None:
    """And says nothing of its age when there is none."""
    with mock_aws():
        client = boto3.client("sqs", "us-east-1", aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY)
        url = client.create_queue(QueueName="waiting")["QueueUrl"]
        assert queues.seen("waiting") == queues.Seen(0, 0, None)
        client.send_message(QueueUrl=url, MessageBody="x")
        for _ in range(3):
            time.sleep(0.01)
            client.receive_message(QueueUrl=url, VisibilityTimeout=0)
        seen = queues.seen("waiting")
        assert seen.visible == 1
        assert seen.oldest_seconds is not None
        assert 0 < seen.oldest_seconds < 5
        time.sleep(0.01)
        client.receive_message(QueueUrl=url, VisibilityTimeout=60)
        assert queues.seen("waiting") == queues.Seen(0, 1, None)
        sink = Sink()
        vitals.of_queues(["waiting"], sink)
        assert sink.said == [("ApproximateNumberOfMessagesVisible", 0), ("ApproximateNumberOfMessagesNotVisible", 1)]
