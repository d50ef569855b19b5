"""Events from S3: what was refused, what Lambda gave up on, and what was archived.

    s3://bucket/quarantine/<code>/<sha256>.event   one event, its exact bytes
    s3://bucket/aws/lambda/…                       Lambda's failure records, of many events each
    s3://archive/archive/day=…/….json.gz           one archived event, compressed

Of a prefix everything of these kinds below it is read. What is taken from the quarantine bucket is moved to replayed/…;
what is refused again stays. So the same command, typed again, sends what is left, and an event sent twice has the same
token. Of the archive nothing is moved.
"""

from __future__ import annotations

import gzip
import json
import zlib
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING

from adapter.model import Code
from cli import failures
from cli.ahead import ahead
from cli.aws import LANES
from cli.bucket import ARCHIVE, FAILURES, QUARANTINE, event_key, event_name, reason_key
from cli.sources import Item, SourceError
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cli.bucket import Bucket, Stored

SCHEME = "s3://"

_TAKEN = (Outcome.DELIVERED, Outcome.DEFERRED)
_ROOTS = (ARCHIVE, FAILURES, QUARANTINE)
_UNREADABLE = Verdict(Outcome.REJECTED, code="not_a_failure_record")
_NO_ID = Verdict(Outcome.REJECTED, code="no_lineage_event_id")
_NOT_ARCHIVED = Verdict(Outcome.REJECTED, code="not_an_archived_event")


def is_stored(path: str) -> bool:
    """Say whether `path` is in S3."""
    return path.startswith(SCHEME)


def split(path: str) -> tuple[str, str]:
    """Give bucket and prefix of an s3:// path; raise SourceError."""
    name, _, prefix = path.removeprefix(SCHEME).partition("/")
    if not name:
        raise SourceError(f"{path}: names no bucket; s3://BUCKET/quarantine/ is what was refused")
    return name, prefix


def keys(bucket: Bucket, prefix: str) -> Iterator[str]:
    """Yield the keys below `prefix` that hold events; raise SourceError where none can be."""
    folders = [root if root.startswith(prefix) else prefix for root in _ROOTS if _meets(root, prefix)]
    if not folders:
        raise SourceError(f"{bucket.url(prefix)}: events are below {QUARANTINE}, {FAILURES} and {ARCHIVE} only")
    for folder in folders:
        yield from (key for key in bucket.keys(folder) if key.startswith((FAILURES, ARCHIVE)) or event_name(key))


def _meets(root: str, prefix: str) -> bool:
    return root.startswith(prefix) or prefix.startswith(root)


def read(bucket: Bucket, found: Iterable[str]) -> Iterator[Item]:
    """Yield the events under these keys in their order, fetching some ahead; skip what is gone by now."""
    with closing(ahead(LANES // 2, LANES, bucket.get, found)) as fetched:
        for key, stored in fetched:
            if stored is not None:
                yield from _items(bucket, key, stored)


def count(found: Iterable[str]) -> int | None:
    """Count the events under these keys; None where failure records hold nobody knows how many."""
    events = 0
    for key in found:
        if key.startswith(FAILURES):
            return None
        events += 1
    return events


def _items(bucket: Bucket, key: str, stored: Stored) -> Iterator[Item]:
    url = bucket.url(key)
    if name := event_name(key):
        yield _quarantined(bucket, name, stored)
        return
    if key.startswith(ARCHIVE):
        yield _archived(url, stored)
        return
    try:
        events = failures.events(stored.body)
    except failures.NotAFailureRecordError:
        yield Item(url, stored.body, verdict=_UNREADABLE)
        return
    place = FailureRecord(bucket, key, len(events))
    yield from (Item(f"{url}:{at}", raw, place) for at, raw in events)


def _archived(url: str, stored: Stored) -> Item:
    try:
        return Item(url, gzip.decompress(stored.body), archived_as=stored.metadata.get("lineage-event-id"))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return Item(url, stored.body, verdict=_NOT_ARCHIVED)


def _quarantined(bucket: Bucket, name: str, stored: Stored) -> Item:
    url, place = bucket.url(event_key(name)), Quarantined(bucket, name, stored)
    if not name.startswith(f"{Code.FAILED_IN_DATAZONE}/"):
        return Item(url, stored.body, place)
    if failed_as := _failed_as(bucket, name):
        return Item(url, stored.body, place, replays=failed_as)
    # Sent without that, it would be answered with the failure, and be taken for delivered.
    return Item(url, stored.body, verdict=_NO_ID)


def _failed_as(bucket: Bucket, name: str) -> str | None:
    """Give DataZone's id of an event that failed there, as its reason has it."""
    reason = bucket.get(reason_key(name))
    said = json.loads(reason.body).get("lineage_event_id") if reason else None
    return said if isinstance(said, str) else None


class Quarantined:
    """An event in quarantine: away with it once it is taken."""

    def __init__(self, bucket: Bucket, name: str, stored: Stored) -> None:
        """Be the place of the event `name` as it was read."""
        self._bucket = bucket
        self._name = name
        self._stored = stored

    def settle(self, verdict: Verdict) -> None:
        """Put the event away if it is taken.

        With the backlog away the adapter keeps an event in quarantine and answers 202 as well, and what waits in the
        backlog may be refused at once. Both write the event anew, and then it stays.
        """
        if verdict.outcome is Outcome.DELIVERED or (verdict.outcome is Outcome.DEFERRED and self._is_as_read()):
            self._bucket.put_away(self._name)

    def _is_as_read(self) -> bool:
        return self._bucket.is_as_read(event_key(self._name), self._stored)


class FailureRecord:
    """A failure record: away with it once each of its events is in another durable place."""

    def __init__(self, bucket: Bucket, key: str, events: int) -> None:
        """Be the place of `events` events."""
        self._bucket = bucket
        self._key = key
        self._left = events
        self._lock = Lock()

    def settle(self, verdict: Verdict) -> None:
        """Count one event that is done: taken, or refused and now in quarantine with its reason."""
        if verdict.outcome not in _TAKEN and not verdict.quarantine_key:
            return
        with self._lock:
            self._left -= 1
            done = not self._left
        if done:
            self._bucket.move_away(self._key)
