"""Where Lambda writes what it gives up on: the terminal, loudly, and the bucket that the mapping names.

Source: AWS Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source": the
record, its key, and that S3 is given the whole event as a string. Not documented: what the condition is called when a
record is too old, and for how long Lambda tries to write.
"""

from __future__ import annotations

import json
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from local.account import ACCOUNT, REGION

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_s3 import S3Client

    from local.redelivery import Destination, GivenUp


# Before it is tried again to write.
_PAUSE = 1.0


class Loud:
    """Says what was given up on, then leaves it to `then` if there is one."""

    def __init__(self, say: Callable[[str], None], then: Destination | None = None) -> None:
        """Say it with `say`."""
        self._say = say
        self._then = then

    def keep(self, given_up: GivenUp) -> None:
        """Say it."""
        first, last = given_up.records[0].sequence_number, given_up.records[-1].sequence_number
        self._say(
            f"GIVEN UP on {len(given_up.records)} records of {given_up.shard_id}, {first} to {last}, "
            f"after {given_up.invocations} invocations: {given_up.condition}"
        )
        if self._then:
            self._then.keep(given_up)


class Bucket:
    """Writes Lambda's invocation record to a bucket."""

    def __init__(self, s3: S3Client, bucket_arn: str, stream_arn: str, function: str) -> None:
        """Write to `bucket_arn` for the mapping of `function` to `stream_arn`."""
        self._s3 = s3
        self._bucket = bucket_arn.removeprefix("arn:aws:s3:::")
        self._stream_arn = stream_arn
        self._function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}"
        self._mapping_id = str(uuid.uuid4())

    def keep(self, given_up: GivenUp) -> None:
        """Write it, as often as it takes."""
        now = datetime.now(UTC)
        name = f"{now:%Y-%m-%dT%H.%M.%S}-{uuid.uuid4()}"
        key = f"aws/lambda/{self._mapping_id}/{given_up.shard_id}/{now:%Y/%m/%d}/{name}"
        body = json.dumps(self._invocation_record(given_up, now)).encode()
        while not self._written(key, body):
            time.sleep(_PAUSE)

    def _written(self, key: str, body: bytes) -> bool:
        try:
            self._s3.put_object(Bucket=self._bucket, Key=key, Body=body)
        except (BotoCoreError, ClientError):
            return False
        return True

    def _invocation_record(self, given_up: GivenUp, now: datetime) -> dict[str, Any]:
        first, last = given_up.records[0], given_up.records[-1]
        return {
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "functionArn": self._function_arn,
                "condition": given_up.condition,
                "approximateInvokeCount": given_up.invocations,
            },
            "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
            "version": "1.0",
            "timestamp": _time(now),
            "KinesisBatchInfo": {
                "shardId": given_up.shard_id,
                "startSequenceNumber": first.sequence_number,
                "endSequenceNumber": last.sequence_number,
                "approximateArrivalOfFirstRecord": _time(datetime.fromtimestamp(first.arrived, UTC)),
                "approximateArrivalOfLastRecord": _time(datetime.fromtimestamp(last.arrived, UTC)),
                "batchSize": len(given_up.records),
                "streamArn": self._stream_arn,
            },
            "payload": json.dumps(given_up.event),
        }


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
