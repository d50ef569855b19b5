"""An event source mapping of a Kinesis stream: its settings, its records and the envelope they come in.

Source: AWS Lambda developer guide, "Process Amazon Kinesis Data Streams records with Lambda" and "Lambda parameters for
Amazon Kinesis Data Streams event source mappings".
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from local.account import ACCOUNT, REGION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from local.template import EventSource


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a stream. `arrived` is in seconds since 1970."""

    sequence_number: str
    partition_key: str
    data: bytes
    arrived: float


@dataclass(frozen=True, slots=True)
class StreamMapping:
    """An event source mapping; seconds where it is about time, None for no bound."""

    stream_arn: str
    batch_size: int = 100
    window: float = 0
    parallelization: int = 1
    starting_position: Literal["TRIM_HORIZON", "LATEST"] = "TRIM_HORIZON"
    reports_failures: bool = False
    bisects: bool = False
    max_age: float | None = None
    max_retries: int | None = None
    destination: str | None = None


def event(records: Sequence[Record], shard_id: str, stream_arn: str) -> dict[str, Any]:
    """Put records into the event a function gets."""
    return {"Records": [_event_record(record, shard_id, stream_arn) for record in records]}


def _event_record(record: Record, shard_id: str, stream_arn: str) -> dict[str, Any]:
    return {
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "partitionKey": record.partition_key,
            "sequenceNumber": record.sequence_number,
            "data": base64.b64encode(record.data).decode(),
            "approximateArrivalTimestamp": record.arrived,
        },
        "eventSource": "aws:kinesis",
        "eventVersion": "1.0",
        "eventID": f"{shard_id}:{record.sequence_number}",
        "eventName": "aws:kinesis:record",
        "invokeIdentityArn": f"arn:aws:iam::{ACCOUNT}:role/local",
        "awsRegion": REGION,
        "eventSourceARN": stream_arn,
    }


def mapping(source: EventSource) -> StreamMapping:
    """Read a function's event of type Kinesis. -1 is Lambda's word for no bound."""
    said = source.properties
    destination = said.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination")
    return StreamMapping(
        stream_arn=said["Stream"],
        batch_size=int(said.get("BatchSize", 100)),
        window=float(said.get("MaximumBatchingWindowInSeconds", 0)),
        parallelization=int(said.get("ParallelizationFactor", 1)),
        starting_position=said["StartingPosition"],
        reports_failures="ReportBatchItemFailures" in said.get("FunctionResponseTypes", []),
        bisects=str(said.get("BisectBatchOnFunctionError", False)).lower() == "true",
        max_age=_bound(said.get("MaximumRecordAgeInSeconds", -1)),
        max_retries=_bound(said.get("MaximumRetryAttempts", -1)),
        destination=destination,
    )


def _bound(value: object) -> int | None:
    number = int(str(value))
    return None if number < 0 else number
