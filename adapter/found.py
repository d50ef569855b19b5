"""What reconciliation has done, kept beside what it found: in the quarantine bucket.

    reconcile/position.json                     up to when everything is known
    reconcile/failed/<yyyy-mm-dd>/<event id>    a failure that is found, under the day (UTC) DataZone took the event;
                                                its body is the quarantine's key

A failure's object is written last, so one that is there needs nothing any more, and one that is not is done again,
which is harmless.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from adapter.model import Cause
from adapter.processing import UnansweredError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

POSITION = "reconcile/position.json"
_FAILED = "reconcile/failed/"


@dataclass(frozen=True, slots=True)
class Position:
    """Of what DataZone took before `settled` every failure is found. `looked_back` is when it was last asked far back.

    Both in seconds since 1970.
    """

    settled: float
    looked_back: float


class Found:
    """The bucket, seen from reconciliation. Its methods raise UnansweredError when S3 does not do what it is asked."""

    def __init__(self, client: S3Client, bucket: str) -> None:
        """Keep it in `bucket`."""
        self._client = client
        self._bucket = bucket

    def position(self) -> Position | None:
        """Give the position that was saved last; None before the first time."""
        with _asked():
            try:
                kept = self._client.get_object(Bucket=self._bucket, Key=POSITION)["Body"].read()
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == "NoSuchKey":
                    return None
                raise
        return Position(**json.loads(kept))

    def save(self, position: Position) -> None:
        """Keep `position` in place of the last one."""
        body = json.dumps(asdict(position)).encode()
        with _asked():
            self._client.put_object(Bucket=self._bucket, Key=POSITION, Body=body, ContentType="application/json")

    def ids(self, after: float, before: float) -> frozenset[str]:
        """Give DataZone's ids of the failures found of the days from `after` to `before` (seconds since 1970)."""
        with _asked():
            return frozenset(key.rpartition("/")[2] for day in _days(after, before) for key in self._keys(day))

    def add(self, lineage_event_id: str, created_at: float, quarantine_key: str) -> None:
        """Keep that a failure is found and where its bytes are."""
        key = f"{_FAILED}{_day(created_at)}/{lineage_event_id}"
        with _asked():
            self._client.put_object(
                Bucket=self._bucket, Key=key, Body=quarantine_key.encode(), ContentType="text/plain"
            )

    def _keys(self, day: str) -> Iterator[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=f"{_FAILED}{day}/")
        for page in pages:
            yield from (found["Key"] for found in page.get("Contents", ()))


@contextmanager
def _asked() -> Iterator[None]:
    """Name what S3 does not do; it is no exception that nobody foresaw."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise UnansweredError(Cause.QUARANTINE_UNREACHABLE) from error


def _day(moment: float) -> str:
    return str(datetime.fromtimestamp(moment, UTC).date())


def _days(after: float, before: float) -> Iterator[str]:
    day = datetime.fromtimestamp(after, UTC).date()
    while day <= datetime.fromtimestamp(before, UTC).date():
        yield str(day)
        day += timedelta(days=1)
