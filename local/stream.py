"""The Kinesis poller: reads each shard in order and gives what it read to the function by Lambda's rules.

Shards are those there are at the start; the local stream is not resharded.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from hashlib import md5
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from local.mapping import Record, event
from local.redelivery import Redelivery
from local.runtime import PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_kinesis import KinesisClient

    from local.console import Trouble
    from local.mapping import StreamMapping
    from local.redelivery import Destination

# Between two looks at a shard that has nothing new.
_IDLE_SECONDS = 0.2
# After Kinesis did not answer.
_TROUBLE_SECONDS = 1.0
# How often a thread that waits looks whether it is to end.
_GLANCE_SECONDS = 0.2


class StreamPoller:
    """One event source mapping of a stream."""

    def __init__(
        self,
        mapping: StreamMapping,
        kinesis: KinesisClient,
        invoke: Callable[[object], object],
        destination: Destination,
        trouble: Trouble,
    ) -> None:
        """Read with `kinesis`, give batches to `invoke`, and tell `trouble` how Kinesis does."""
        self._mapping = mapping
        self._kinesis = kinesis
        self._invoke = invoke
        self._destination = destination
        self._trouble = trouble
        self._stopping = Event()

    def start(self) -> None:
        """Begin with every shard."""
        shards = self._kinesis.list_shards(StreamARN=self._mapping.stream_arn)["Shards"]
        for shard_id in (shard["ShardId"] for shard in shards):
            lanes = [_Lane(self._mapping, shard_id, self._stopping) for _ in range(self._mapping.parallelization)]
            for lane in lanes:
                rules = Redelivery(
                    self._mapping, shard_id, self._invoke, self._destination, _StoppableClock(self._stopping)
                )
                Thread(target=lane.work, args=[rules], daemon=True).start()
            Thread(target=self._read, args=[shard_id, lanes], daemon=True).start()

    def stop(self) -> None:
        """Read nothing more and give nothing more to the function."""
        self._stopping.set()

    def _read(self, shard_id: str, lanes: list[_Lane]) -> None:
        last: str | None = None
        iterator: str | None = None
        while not self._stopping.is_set():
            try:
                iterator = iterator or self._iterator(shard_id, last)
                answer = self._kinesis.get_records(ShardIterator=iterator, Limit=1000)
            except (BotoCoreError, ClientError) as error:
                iterator = None
                self._trouble.seen(error)
                self._stopping.wait(_TROUBLE_SECONDS)
                continue
            self._trouble.over()
            for got in answer["Records"]:
                arrived = got["ApproximateArrivalTimestamp"].timestamp()
                record = Record(got["SequenceNumber"], got["PartitionKey"], got["Data"], arrived)
                lanes[_place(record.partition_key, len(lanes))].put(record)
                last = record.sequence_number
            iterator = answer["NextShardIterator"]
            if not answer["Records"]:
                self._stopping.wait(_IDLE_SECONDS)

    def _iterator(self, shard_id: str, last: str | None) -> str:
        # By name: moto's iterators for an ARN lead nowhere.
        get = partial(
            self._kinesis.get_shard_iterator,
            StreamName=self._mapping.stream_arn.rpartition("/")[2],
            ShardId=shard_id,
        )
        if last:
            answer = get(ShardIteratorType="AFTER_SEQUENCE_NUMBER", StartingSequenceNumber=last)
        else:
            answer = get(ShardIteratorType=self._mapping.starting_position)
        return answer["ShardIterator"]


@dataclass(frozen=True, slots=True)
class _StoppableClock:
    stopping: Event

    def now(self) -> float:
        return time.time()

    def wait(self, seconds: float) -> bool:
        return self.stopping.wait(seconds)


class _Lane:
    """Those records of a shard that are worked on one batch after the other."""

    def __init__(self, mapping: StreamMapping, shard_id: str, stopping: Event) -> None:
        self._mapping = mapping
        self._shard_id = shard_id
        self._stopping = stopping
        self._records: Queue[Record] = Queue(maxsize=2 * mapping.batch_size)
        self._held_over: Record | None = None

    def put(self, record: Record) -> None:
        while not self._stopping.is_set():
            try:
                return self._records.put(record, timeout=_GLANCE_SECONDS)
            except Full:
                continue
        return None

    def work(self, rules: Redelivery) -> None:
        while not self._stopping.is_set():
            if batch := self._batch():
                rules.settle(batch)

    def _batch(self) -> list[Record]:
        """Gather records until the batch or the payload is full or the window closes, which opens with the first."""
        first = self._next(_GLANCE_SECONDS)
        if first is None:
            return []
        batch, size, closes = [first], self._bytes(first), time.monotonic() + self._mapping.window
        while len(batch) < self._mapping.batch_size and (record := self._next(closes - time.monotonic())):
            size += self._bytes(record)
            if size > PAYLOAD_BYTES:
                self._held_over = record
                break
            batch.append(record)
        return batch

    def _next(self, seconds: float) -> Record | None:
        if self._held_over:
            record, self._held_over = self._held_over, None
            return record
        try:
            return self._records.get(timeout=seconds) if seconds > 0 else self._records.get_nowait()
        except Empty:
            return None

    def _bytes(self, record: Record) -> int:
        # What frames the records is less than what each of them is counted with here.
        return len(json.dumps(event([record], self._shard_id, self._mapping.stream_arn)))


def _place(partition_key: str, lanes: int) -> int:
    return int.from_bytes(md5(partition_key.encode(), usedforsecurity=False).digest()) % lanes
