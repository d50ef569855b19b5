"""The quarantine bucket, and the archive's, seen from an operator: what is in it, and moving away what is done.

quarantine/, days/       what was refused (adapter/quarantine.py)
aws/lambda/              what Lambda gave up on
replayed/<either key>    what was moved away, unchanged
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from cli import aws

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from mypy_boto3_s3 import S3Client

QUARANTINE, DAYS, FAILURES, REPLAYED = "quarantine/", "days/", "aws/lambda/", "replayed/"
# In a bucket of its own, if there is one (adapter/archive.py).
ARCHIVE = "archive/"

_EVENT = re.compile(r"quarantine/([^/]+/[0-9a-f]{64})\.event")
_MARKER = re.compile(r"days/(\d{4}-\d\d-\d\d)/([^/]+/[0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read; `written` tells it from one of the same key that was written later."""

    body: bytes
    written: tuple[str | None, datetime]
    metadata: Mapping[str, str] = field(default_factory=dict)


def event_key(name: str) -> str:
    """Give the key of a quarantined event; its name is `<code>/<sha256>`."""
    return f"{QUARANTINE}{name}.event"


def reason_key(name: str) -> str:
    """Give the key of the reason beside it."""
    return f"{QUARANTINE}{name}.reason.json"


def event_name(key: str) -> str | None:
    """Read the name of a quarantined event from its key; None for any other key."""
    found = _EVENT.fullmatch(key)
    return found[1] if found else None


def marker(key: str) -> tuple[str, str] | None:
    """Read day and name of an event from the key of its marker; None for any other key."""
    found = _MARKER.fullmatch(key)
    return (found[1], found[2]) if found else None


class Bucket:
    """One bucket. Every method raises AwsError. Safe to share among threads."""

    def __init__(self, client: S3Client, name: str) -> None:
        """Work on the bucket `name`."""
        self._client = client
        self.name = name
        self._lock = Lock()
        self._days: dict[str, list[str]] | None = None

    def url(self, key: str) -> str:
        """Give the s3:// address of a key."""
        return f"s3://{self.name}/{key}"

    def keys(self, prefix: str, after: str | None = None) -> Iterator[str]:
        """Yield the keys below `prefix` that come after `after`, in their order, a page at a time."""
        start: dict[str, Any] = {"StartAfter": after} if after else {}
        with aws.explained(self.url(prefix)):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix, **start)
            for page in pages:
                yield from (found["Key"] for found in page.get("Contents", ()))

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield what stands between `prefix` and the next slash."""
        with aws.explained(self.url(prefix)):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.name, Prefix=prefix, Delimiter="/"
            )
            for page in pages:
                yield from (found["Prefix"] for found in page.get("CommonPrefixes", ()))

    def get(self, key: str) -> Stored | None:
        """Read an object; None where there is none."""
        with aws.explained(self.url(key)):
            try:
                found = self._client.get_object(Bucket=self.name, Key=key)
                return Stored(found["Body"].read(), _written(found), found.get("Metadata", {}))
            except ClientError as error:
                if aws.missing(error):
                    return None
                raise

    def put_away(self, name: str) -> None:
        """Move a quarantined event, its reason and its days away; to do so again is harmless.

        Copies everything before anything is deleted, and deletes the event first: until then it is found by all that
        it could be found by and put away again, and then it is in one place. Without it, the rest means nothing.
        """
        event, reason = event_key(name), reason_key(name)
        self._copy(reason)
        if self._copy(event):
            for key in (event, reason, *self._markers(name)):
                self._delete(key)

    def is_as_read(self, key: str, stored: Stored) -> bool:
        """Say whether an object is still the one that was read, not one written later, of the same bytes or others."""
        return self._written(key) == stored.written

    def move_away(self, key: str) -> None:
        """Move one object away; to do so again is harmless."""
        if self._copy(key):
            self._delete(key)

    def exists(self, key: str) -> bool:
        """Say whether there is such an object."""
        return self._written(key) is not None

    def days(self, name: str) -> list[str]:
        """Give the days on which an event came, the first one first, as of the first time this is asked."""
        return [key.split("/")[1] for key in self._markers(name)]

    def _markers(self, name: str) -> list[str]:
        # A day comes first in its markers' keys, so one event's can only be found by looking through all: a thousand
        # with each request, once.
        with self._lock:
            if self._days is None:
                self._days = {}
                for key in self.keys(DAYS):
                    if found := marker(key):
                        self._days.setdefault(found[1], []).append(key)
            return self._days.get(name, [])

    def _written(self, key: str) -> tuple[str | None, datetime] | None:
        with aws.explained(self.url(key)):
            try:
                return _written(self._client.head_object(Bucket=self.name, Key=key))
            except ClientError as error:
                if aws.missing(error):
                    return None
                raise

    def _copy(self, key: str) -> bool:
        """Copy within the bucket to where the replayed are; False where there is nothing (any more)."""
        with aws.explained(self.url(key)):
            try:
                self._client.copy_object(
                    Bucket=self.name, Key=REPLAYED + key, CopySource={"Bucket": self.name, "Key": key}
                )
            except ClientError as error:
                if aws.missing(error):
                    return False
                raise
        return True

    def _delete(self, key: str) -> None:
        with aws.explained(self.url(key)):
            self._client.delete_object(Bucket=self.name, Key=key)


def _written(answer: Mapping[str, Any]) -> tuple[str | None, datetime]:
    return answer.get("VersionId"), answer["LastModified"]
