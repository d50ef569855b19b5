"""The pollers of the local system, against moto's Kinesis and SQS."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from local.aws import Aws
from local.console import Trouble
from local.destination import Bucket, Loud
from local.mapping import StreamMapping
from local.redelivery import ATTEMPTS
from local.runtime import PAYLOAD_BYTES, FunctionError
from local.server import Request
from local.sqs import QueueMapping, QueuePoller
from local.stream import StreamPoller
from local.system import client
from tests.integration.running import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from local.redelivery import Destination

ACCOUNT = "123456789012"


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    aws = Aws(0)
    aws.server.start()
    yield aws
    aws.server.stop()


class Received:
    """A function that remembers, in the order of each shard, and fails where it is told to."""

    def __init__(self, answer: Callable[[list[bytes]], object] = lambda _: None) -> None:
        self.batches: dict[str, list[list[bytes]]] = defaultdict(list)
        self.troubles: list[str] = []
        self._answer = answer
        self._lock = threading.Lock()

    def invoke(self, event: Any) -> object:  # noqa: ANN401 - any JSON
        batch = [base64.b64decode(record["kinesis"]["data"]) for record in event["Records"]]
        with self._lock:
            self.batches[event["Records"][0]["eventID"].partition(":")[0]].append(batch)
        return self._answer(batch)

    def records(self) -> list[bytes]:
        return [record for shard in self.batches.values() for batch in shard for record in batch]


type Poll = Callable[..., Any]


@pytest.fixture
def poll(aws: Aws, request: pytest.FixtureRequest) -> Iterator[Poll]:
    """Make a stream with a poller; give the stream's name to put records to."""
    pollers: list[StreamPoller] = []
    kinesis = client("kinesis", aws.server.url)
    name = f"s{abs(hash(request.node.name))}"

    def begin(received: Received, destination: Destination | None = None, *, shards: int = 1, **settings: Any) -> str:  # noqa: ANN401 - a mapping's fields
        kinesis.create_stream(StreamName=name, ShardCount=shards)
        settled = replace(StreamMapping(f"arn:aws:kinesis:us-east-1:{ACCOUNT}:stream/{name}"), **settings)
        lost = destination or Loud(lambda _: None)
        trouble = Trouble(received.troubles.append, "Kinesis")
        pollers.append(StreamPoller(settled, kinesis, received.invoke, lost, trouble))
        pollers[-1].start()
        return name

    yield begin
    for poller in pollers:
        poller.stop()


def put(aws: Aws, stream: str, *records: tuple[str, bytes]) -> None:
    client("kinesis", aws.server.url).put_records(
        StreamName=stream, Records=[{"PartitionKey": key, "Data": data} for key, data in records]
    )


def numbered(count: int, keys: int = 1) -> list[tuple[str, bytes]]:
    return [(f"k{number % keys}", b"%d %d" % (number % keys, number)) for number in range(count)]


def test_each_shard_comes_whole_in_order_and_in_batches(aws: Aws, poll: Poll) -> None:
    received = Received()
    stream = poll(received, shards=2, batch_size=10)
    put(aws, stream, *numbered(100, keys=8))
    until(lambda: len(received.records()) == 100)
    assert len(received.batches) == 2
    for batches in received.batches.values():
        assert all(len(batch) <= 10 for batch in batches)
        numbers = [int(record.split()[1]) for batch in batches for record in batch]
        assert numbers == sorted(numbers)


def test_records_put_later_are_read_too_and_none_twice(aws: Aws, poll: Poll) -> None:
    received = Received()
    stream = poll(received)
    for number in range(3):
        put(aws, stream, ("k", b"%d" % number))
        until(lambda seen=number + 1: len(received.records()) == seen)  # type: ignore[misc]  # bound now
    assert received.records() == [b"0", b"1", b"2"]


def test_lanes_of_a_shard_work_at_the_same_time_and_keep_the_order_of_each_key(aws: Aws, poll: Poll) -> None:
    meeting, invitations = threading.Barrier(2, timeout=60), iter(range(2))

    def answer(_: list[bytes]) -> object:
        if next(invitations, None) is not None:
            meeting.wait()
        return None

    received = Received(answer)
    stream = poll(received, parallelization=4, batch_size=5)
    put(aws, stream, *numbered(100, keys=10))
    until(lambda: len(received.records()) == 100)
    for key in range(10):
        numbers = [int(record.split()[1]) for record in received.records() if record.startswith(b"%d " % key)]
        assert numbers == sorted(numbers)


def test_a_batch_never_exceeds_what_lambda_takes(aws: Aws, poll: Poll) -> None:
    sizes = []

    def answer(batch: list[bytes]) -> object:
        sizes.append(sum(map(len, batch)) * 4 / 3)
        return None

    received = Received(answer)
    stream = poll(received, window=1.0)
    data = b"x" * 1_000_000
    for _ in range(2):
        put(aws, stream, *[("k", data)] * 4)
    until(lambda: len(received.records()) == 8)
    assert max(sizes) < PAYLOAD_BYTES
    assert len(sizes) >= 2


def test_a_window_gathers_what_comes_one_by_one(aws: Aws, poll: Poll) -> None:
    received = Received()
    stream = poll(received, window=60.0, batch_size=3)
    for number in range(3):
        put(aws, stream, ("k", b"%d" % number))
    until(received.records)
    assert received.batches["shardId-000000000000"] == [[b"0", b"1", b"2"]]


def test_only_what_is_reported_and_what_follows_it_comes_again(aws: Aws, poll: Poll) -> None:
    failed = threading.Event()

    def answer(batch: list[bytes]) -> object:
        if failed.is_set() or b"2" not in batch:
            return None
        failed.set()
        return {"batchItemFailures": [{"itemIdentifier": str(batch.index(b"2") + 1)}]}

    received = Received(answer)
    stream = poll(received, window=1.0, reports_failures=True)
    put(aws, stream, *(("k", b"%d" % number) for number in range(4)))
    until(lambda: received.records().count(b"3") == 2)
    assert received.records() == [b"0", b"1", b"2", b"3", b"2", b"3"]


def test_what_lambda_gives_up_on_is_in_the_bucket_as_lambda_writes_it(aws: Aws, poll: Poll) -> None:
    def answer(batch: list[bytes]) -> object:
        if b"poison" in batch:
            raise FunctionError("died")
        return None

    s3 = client("s3", aws.server.url)
    s3.create_bucket(Bucket="kept")
    said: list[str] = []
    lost = Loud(said.append, Bucket(s3, "arn:aws:s3:::kept", "arn:stream", "fn"))
    received = Received(answer)
    stream = poll(received, lost, max_retries=1, bisects=True, window=1.0)
    put(aws, stream, ("k", b"good"), ("k", b"poison"), ("k", b"fine"))
    (listed,) = until(lambda: s3.list_objects_v2(Bucket="kept").get("Contents"))
    assert "GIVEN UP on 1 records" in said[0]
    assert listed["Key"].startswith("aws/lambda/")
    assert "/shardId-000000000000/20" in listed["Key"]
    kept = json.loads(s3.get_object(Bucket="kept", Key=listed["Key"])["Body"].read())
    assert (kept["requestContext"]["condition"], kept["requestContext"]["approximateInvokeCount"]) == (ATTEMPTS, 2)
    assert kept["KinesisBatchInfo"]["startSequenceNumber"] == kept["KinesisBatchInfo"]["endSequenceNumber"] == "2"
    (record,) = json.loads(kept["payload"])["Records"]
    assert base64.b64decode(record["kinesis"]["data"]) == b"poison"
    until(lambda: b"fine" in received.records()[-1:])
    assert received.records().count(b"good") == 2  # with the poison, then without


def test_nothing_is_lost_when_many_write_at_the_same_moment(aws: Aws, poll: Poll) -> None:
    """On its own, moto loses some."""
    received = Received()
    stream = poll(received)

    def write(writer: int) -> None:
        kinesis = client("kinesis", aws.server.url)
        for number in range(25):
            kinesis.put_record(StreamName=stream, PartitionKey="k", Data=b"%d.%d" % (writer, number))

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: len(received.records()) >= 200)
    assert len(set(received.records())) == len(received.records()) == 200


def test_a_kinesis_that_fails_is_asked_again(aws: Aws, poll: Poll) -> None:
    received = Received()
    stream = poll(received)
    put(aws, stream, ("k", b"before"))
    until(received.records)
    fault(aws, "PUT", service="kinesis", status=500)
    until(lambda: received.troubles)
    fault(aws, "DELETE")
    put(aws, stream, ("k", b"after"))
    until(lambda: received.records() == [b"before", b"after"])
    assert received.troubles[-1] == "  Kinesis answers again"


def fault(aws: Aws, method: str, **told: object) -> None:
    answer = aws._answer(Request(method, "/_faults", (), json.dumps(told).encode(), ""))  # noqa: SLF001 - without a client
    assert answer.status == 200


def queue(aws: Aws, name: str, **attributes: str) -> str:
    return str(client("sqs", aws.server.url).create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])


@pytest.fixture
def serve(aws: Aws) -> Iterator[Poll]:
    pollers: list[QueuePoller] = []

    def begin(url: str, invoke: Callable[[Any], object], **settings: Any) -> None:  # noqa: ANN401 - a mapping's fields
        mapping = replace(QueueMapping("arn:queue"), **settings)
        pollers.append(QueuePoller(mapping, url, client("sqs", aws.server.url), invoke, Trouble(lambda _: None, "SQS")))
        pollers[-1].start()

    yield begin
    for poller in pollers:
        poller.stop()


def left(aws: Aws, url: str) -> int:
    answer = client("sqs", aws.server.url).get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return int(answer["ApproximateNumberOfMessages"]) + int(answer["ApproximateNumberOfMessagesNotVisible"])


def test_messages_that_were_handled_are_deleted_and_those_reported_come_again(aws: Aws, serve: Poll) -> None:
    url = queue(aws, "reported", VisibilityTimeout="2")
    given: list[str] = []

    def answer(event: Any) -> object:  # noqa: ANN401 - any JSON
        bad = [record for record in event["Records"] if record["body"] == "bad" and given.count("bad") < 2]
        given.extend(record["body"] for record in event["Records"])
        assert all(record["attributes"]["ApproximateReceiveCount"] for record in event["Records"])
        return {"batchItemFailures": [{"itemIdentifier": record["messageId"]} for record in bad]}

    sqs = client("sqs", aws.server.url)
    for body in ("good", "bad", "fine"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    serve(url, answer, reports_failures=True)
    until(lambda: left(aws, url) == 0)
    assert sorted(given) == ["bad", "bad", "bad", "fine", "good"]


@pytest.mark.parametrize(
    "answer", [FunctionError("died"), {"batchItemFailures": [{"itemIdentifier": "nobody"}]}, "odd"], ids=str
)
def test_a_batch_that_failed_is_not_deleted(aws: Aws, serve: Poll, answer: object) -> None:
    url = queue(aws, f"failed{abs(hash(str(answer)))}", VisibilityTimeout="60")
    given = threading.Event()

    def invoke(_: object) -> object:
        given.set()
        if isinstance(answer, Exception):
            raise answer
        return answer

    client("sqs", aws.server.url).send_message(QueueUrl=url, MessageBody="x")
    serve(url, invoke, reports_failures=True)
    assert given.wait(10)
    time.sleep(0.3)
    assert left(aws, url) == 1


def test_a_large_batch_is_gathered_and_deleted_in_pieces(aws: Aws, serve: Poll) -> None:
    url = queue(aws, "large")
    sqs = client("sqs", aws.server.url)
    for number in range(25):
        sqs.send_message(QueueUrl=url, MessageBody=str(number))
    sizes: list[int] = []
    serve(url, lambda event: sizes.append(len(event["Records"])), batch_size=25, window=60.0, concurrency=1)
    until(lambda: left(aws, url) == 0)
    assert sizes == [25]
