"""The bucket of what was refused: the exact bytes, and beside them the reason a person can read.

    quarantine/<code>/<sha256>.event         the bytes as they came
    quarantine/<code>/<sha256>.reason.json   why, from where, when, and how to replay
    days/<yyyy-mm-dd>/<code>/<sha256>        empty; the day (UTC) it came, to list by

The same bytes refused for the same reason are one object, however often they come.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from adapter.model import Cause, Deferred, Received, Rejected

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class Quarantine:
    """The S3 bucket, seen from a door that refuses. Safe to share among threads."""

    def __init__(self, client: S3Client, bucket: str, lanes: int) -> None:
        """Keep objects in `bucket`, at most `lanes` at a time; the client's timeouts are the door's patience."""
        self._client = client
        self._bucket = bucket
        self._pool = ThreadPoolExecutor(lanes, "quarantine")

    def keep(self, received: Received, rejected: Rejected) -> Rejected | Deferred:
        """Keep `received` and why it was refused; give `rejected` with its key.

        The key is the event's, in the bucket. Deferred when S3 does not take all of it; to keep it again is harmless.
        Never raises.
        """
        name = f"{rejected.code}/{sha256(received.raw).hexdigest()}"
        key = f"quarantine/{name}.event"
        day = datetime.fromtimestamp(received.received_at, UTC).date()
        objects = {
            key: received.raw,
            f"quarantine/{name}.reason.json": self._reason(key, received, rejected),
            f"days/{day}/{name}": b"",
        }
        try:
            # Side by side: a door that has to answer has time for one of them.
            list(self._pool.map(self._put, objects, objects.values()))
        except (BotoCoreError, ClientError):
            return Deferred(Cause.QUARANTINE_UNREACHABLE)
        return replace(rejected, quarantine_key=key)

    def _put(self, key: str, body: bytes) -> None:
        content_type = "application/json" if key.endswith(".json") else "application/octet-stream"
        self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=content_type)

    def _reason(self, key: str, received: Received, rejected: Rejected) -> bytes:
        job = rejected.job
        reason = {
            "code": rejected.code,
            "detail": rejected.detail,
            "errors": [asdict(error) for error in rejected.errors],
            "source": received.source,
            "producer": received.producer,
            "job_namespace": job.namespace if job else None,
            "job_name": job.name if job else None,
            "lineage_event_id": rejected.lineage_event_id,
            "received_at": datetime.fromtimestamp(received.received_at, UTC).isoformat(),
            "bytes": len(received.raw),
            "replay": f"lineage-adapter replay s3://{self._bucket}/{key} --url URL",
        }
        return json.dumps(reason, indent=2).encode()
