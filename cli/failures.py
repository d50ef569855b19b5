"""Lambda's records of what it gave up on, taken apart into events as the Kinesis door does.

Format: AWS Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source": a JSON
object with metadata and, in `payload`, the whole Kinesis event as a string.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from adapter import kpl
from adapter.body import opened
from adapter.model import Source

if TYPE_CHECKING:
    from collections.abc import Iterator


class NotAFailureRecordError(Exception):
    """It is something else, or of another kind of event source."""


def events(body: bytes) -> list[tuple[str, bytes]]:
    """Give the events in a failure record, in their order, each with its place: `2`, or `2.5` in a KPL aggregate.

    An event is what its emitter serialised: gzip and aggregation are undone. What cannot be undone is given as it is.
    Raise NotAFailureRecordError.
    """
    try:
        payload = json.loads(body)["payload"]
        whole = json.loads(payload) if isinstance(payload, str) else payload
        data = [_data(record) for record in whole["Records"]]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise NotAFailureRecordError from None
    if not data:
        raise NotAFailureRecordError
    return [one for number, record in enumerate(data, 1) for one in _events(number, record)]


def _data(record: dict[str, Any]) -> bytes:
    return base64.b64decode(record["kinesis"]["data"], validate=True)


def _events(number: int, data: bytes) -> Iterator[tuple[str, bytes]]:
    if not kpl.is_aggregate(data):
        yield str(number), opened(data, Source.KINESIS).raw
        return
    try:
        user_records = kpl.records(data)
    except kpl.BrokenAggregateError:
        yield str(number), data
        return
    for index, user_record in enumerate(user_records, 1):
        yield f"{number}.{index}", opened(user_record, Source.KINESIS).raw
