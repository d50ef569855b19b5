"""The archive, where one is wanted: each delivered event's exact bytes in S3, for longer than any catalog keeps them.

    archive/day=<yyyy-mm-dd>/job_namespace=<percent-encoded>/<client token>.json.gz

The day (UTC) is that of the delivery. DataZone's id, the token and the SHA-256 of the bytes are the object's metadata.
The same event archived again on the same day is the same object.
"""

from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError

from adapter.model import Cause, Deferred, Delivered

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_s3 import S3Client

    from adapter.ingest import Lineage
    from adapter.model import Outcome, RunEvent

# A key has 1,024 bytes (Amazon S3 user guide, "Naming Amazon S3 objects"); of a namespace longer than this its hash is
# taken.
_LONGEST_NAMESPACE = 800


class Archive:
    """The S3 bucket. Safe to share among threads."""

    def __init__(self, client: S3Client, bucket: str, clock: Callable[[], float] = time.time) -> None:
        """Keep objects in `bucket`; the client's timeouts are the door's patience."""
        self._client = client
        self._bucket = bucket
        self._clock = clock

    def keep(self, event: RunEvent, delivered: Delivered) -> bool:
        """Keep the bytes of `event`; say whether they are kept. Never raises for what S3 or the network does."""
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=self._key(event),
                Body=gzip.compress(event.raw, mtime=0),
                ContentType="application/gzip",
                Metadata={
                    "lineage-event-id": delivered.lineage_event_id,
                    "domain-id": delivered.domain_id,
                    "client-token": event.client_token,
                    "sha256": sha256(event.raw).hexdigest(),
                },
            )
        except (BotoCoreError, ClientError):
            return False
        return True

    def _key(self, event: RunEvent) -> str:
        day = datetime.fromtimestamp(self._clock(), UTC).date()
        return f"archive/day={day}/job_namespace={_encoded(event.job.namespace)}/{event.client_token}.json.gz"


def _encoded(namespace: str) -> str:
    raw = namespace.encode("utf-8", "surrogatepass")
    encoded = quote(raw, safe="")
    return encoded if len(encoded) <= _LONGEST_NAMESPACE else sha256(raw).hexdigest()


class Archiving:
    """Delivers through `lineage` and archives what it delivered.

    An event whose copy S3 does not take is delivered and yet deferred: it waits and comes again like any other,
    DataZone answers its token with the id it has, and the copy is tried again. So a copy is late at worst, and never
    missing unseen.
    """

    def __init__(
        self, lineage: Lineage, archive: Archive, attempt_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Stand before `lineage`; to keep an event in `archive` takes at most `attempt_seconds`."""
        self._lineage = lineage
        self._archive = archive
        self._attempt_seconds = attempt_seconds
        self._clock = clock

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Deliver `event`, then archive it in what is left of the time; return by `deadline` (monotonic seconds)."""
        outcome = self._lineage.deliver(event, deadline)
        if not isinstance(outcome, Delivered):
            return outcome
        in_time = self._clock() + self._attempt_seconds <= deadline
        if in_time and self._archive.keep(event, outcome):
            return outcome
        return Deferred(Cause.ARCHIVE_UNREACHABLE, event.client_token, calls=outcome.calls)
