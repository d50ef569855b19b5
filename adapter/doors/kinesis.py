"""The Kinesis door: a batch of stream records in, the lowest unfinished sequence number out.

A record is one event, plain or gzipped, or a KPL aggregate of many. What is refused never holds the shard up. Lambda
starts again at the lowest sequence number reported and redelivers everything after it (AWS Lambda developer guide,
"Reporting batch item failures for Kinesis"), which is harmless: the same bytes carry the same token.
"""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from adapter import kpl
from adapter.body import opened
from adapter.model import Code, Deferred, Received, Rejected, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from adapter.ingest import Ingest, Records
    from adapter.lanes import Lanes

# Time to record the outcomes and answer after the last delivery has ended.
ANSWER_SECONDS = 2.0


# What a record, and about what a batch, may grow to when its gzip is undone. An aggregate of honest events stays far
# below the first; a batch that reaches the second is taken in several goes.
RECORD_BYTES = 32 * 1024 * 1024
BATCH_BYTES = 32 * 1024 * 1024
# How many events may be in one, however small: each costs some 4 KB until it is recorded. The KPL puts at most a
# megabyte into an aggregate, which is 4,000 of the smallest run events.
RECORD_EVENTS = 10_000
BATCH_EVENTS = 10_000

# An empty identifier fails the whole batch (the same page).
WHOLE_BATCH = ""

# A log line's field: where in an aggregate, whose records have one sequence number, an event was.
_PLACE = "sub_sequence_number"

PartialResponse = dict[str, list[dict[str, str]]]


class Context(Protocol):
    """What the door needs of Lambda's context object."""

    def get_remaining_time_in_millis(self) -> int:
        """Say how long this invocation may still run, in milliseconds."""


def guarded(step: Callable[[], PartialResponse], context: Context, records: Records) -> PartialResponse:
    """Do `step`; what nobody foresaw in it fails the whole batch, which is then given again.

    An exception would do that too, but Lambda logs its message, and that may hold values of an event.
    """
    try:
        records.begin(context)
        return step()
    except Exception as error:  # noqa: BLE001 - whatever it is, nothing of the batch may be taken for done
        records.fault(error)
        records.flush()
        return {"batchItemFailures": [{"itemIdentifier": WHOLE_BATCH}]}


@dataclass(frozen=True, slots=True)
class KinesisDoor:
    """Records to events, events through the lanes, outcomes to a partial batch response."""

    ingest: Ingest
    lanes: Lanes

    def __call__(self, event: Mapping[str, Any], context: Context) -> PartialResponse:
        """Take one Kinesis event; answer with a partial batch response (ReportBatchItemFailures). Never raises."""
        return guarded(lambda: self._taken(event, context), context, self.ingest.records)

    def _taken(self, event: Mapping[str, Any], context: Context) -> PartialResponse:
        deadline = time.monotonic() + context.get_remaining_time_in_millis() / 1000 - ANSWER_SECONDS
        sequence_numbers, received, left = _opened(event["Records"])
        deaggregated = sum(_PLACE in (one.ids or ()) for one in received)
        self.ingest.records.batch(Source.KINESIS, len(event["Records"]), deaggregated)
        outcomes = self.lanes.run(received, deadline)
        self.ingest.records.flush()
        # Records come in the order of their sequence numbers, so the first unfinished one is the lowest.
        unfinished = [
            number for number, outcome in zip(sequence_numbers, outcomes, strict=True) if isinstance(outcome, Deferred)
        ]
        return {"batchItemFailures": [{"itemIdentifier": number} for number in [*unfinished, *left][:1]]}


def _opened(records: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[Received], list[str]]:
    """Open records until they have grown to BATCH_BYTES or are BATCH_EVENTS events.

    Gives a sequence number for each event, the events, and the number of the first record left for the next time, if
    any is left.
    """
    numbers: list[str] = []
    received: list[Received] = []
    size = 0
    for record in records:
        number = record["kinesis"]["sequenceNumber"]
        # The record's eventID is the shard's id, a colon and the sequence number.
        ids = {"shard_id": record.get("eventID", "").partition(":")[0], "sequence_number": number}
        if size >= BATCH_BYTES or len(received) >= BATCH_EVENTS:
            return numbers, received, [number]
        events = _events(record["kinesis"], ids)
        numbers += [number] * len(events)
        received += events
        size += sum(len(one.raw) for one in events)
    return numbers, received, []


def _events(record: Mapping[str, Any], ids: Mapping[str, object]) -> list[Received]:
    """Give the events in one record, or the record itself, refused, if it is a broken aggregate or a bomb."""
    data, arrived = base64.b64decode(record["data"]), record["approximateArrivalTimestamp"]
    if not kpl.is_aggregate(data):
        return [_event(data, arrived, ids)]
    whole = Received(data, Source.KINESIS, received_at=arrived, ids=ids)
    try:
        user_records = kpl.records(data)
    except kpl.BrokenAggregateError as error:
        return [replace(whole, refused=Rejected(Code.UNSUPPORTED_ENCODING, f"a broken KPL aggregate: {error}"))]
    if len(user_records) > RECORD_EVENTS:
        return [replace(whole, refused=Rejected(Code.TOO_LARGE, f"an aggregate of over {RECORD_EVENTS} records"))]
    events: list[Received] = []
    size = 0
    for place, user_record in enumerate(user_records):
        events.append(_event(user_record, arrived, {**ids, _PLACE: place}))
        size += len(events[-1].raw)
        if size > RECORD_BYTES:
            return [replace(whole, refused=Rejected(Code.TOO_LARGE, f"over {RECORD_BYTES} bytes once unpacked"))]
    return events


def _event(data: bytes, arrived: float, ids: Mapping[str, object]) -> Received:
    return opened(data, Source.KINESIS, received_at=arrived, ids=ids)
