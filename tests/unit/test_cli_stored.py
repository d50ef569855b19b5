"""Moving away what is done, interrupted at every point, against an S3 in memory."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from cli import stored
from cli.bucket import Bucket, event_key, event_name, marker, reason_key
from cli.sources import Item, SourceError
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_s3 import S3Client

RAW = b'{"eventTime": "naive"}'
NAME = f"schema_violation/{sha256(RAW).hexdigest()}"
OTHER = f"not_json/{sha256(b'{').hexdigest()}"
DELIVERED = Verdict(Outcome.DELIVERED, 200)
DEFERRED = Verdict(Outcome.DEFERRED, 202)
KEPT = Verdict(Outcome.REJECTED, 422, "schema_violation", "/eventTime", "quarantine/schema_violation/x.event")
UNKEPT = Verdict(Outcome.REJECTED, 413, "too_large")
FAILED = Verdict(Outcome.FAILED, 503, "unavailable")


class Crash(BaseException):
    """The process ends here."""


@dataclass
class FakeS3:
    """A bucket with versions, as far as the newest one goes, that dies before the write of that number."""

    objects: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    dies_at: int | None = None
    writes: int = 0
    versions: Iterator[int] = field(default_factory=count)

    def put(self, key: str, body: bytes) -> None:
        self.objects[key] = (body, str(next(self.versions)))

    def quarantine(self, name: str, raw: bytes, *days: str) -> None:
        self.put(event_key(name), raw)
        self.put(reason_key(name), json.dumps({"code": name.split("/", maxsplit=1)[0]}).encode())
        for day in days:
            self.put(f"days/{day}/{name}", b"")

    def get_paginator(self, operation: str) -> FakeS3:
        assert operation == "list_objects_v2"
        return self

    def paginate(self, **asked: str) -> Iterator[dict[str, Any]]:
        assert asked["Bucket"] == "kept"
        yield {}
        for key in sorted(self.objects):
            if key.startswith(asked["Prefix"]) and key > asked.get("StartAfter", ""):
                yield {"Contents": [{"Key": key}]}

    def get_object(self, **asked: str) -> dict[str, Any]:
        body, _ = self._found(asked["Key"], "GetObject")
        return self.head_object(**asked) | {"Body": io.BytesIO(body)}

    def head_object(self, **asked: str) -> dict[str, Any]:
        _, version = self._found(asked["Key"], "HeadObject")
        return {"VersionId": version, "LastModified": datetime(2026, 11, 29, tzinfo=UTC)}

    def copy_object(self, **asked: Any) -> None:  # noqa: ANN401 - as botocore takes it
        self._write()
        body, _ = self._found(asked["CopySource"]["Key"], "CopyObject")
        self.put(asked["Key"], body)

    def delete_object(self, **asked: str) -> None:
        self._write()
        self.objects.pop(asked["Key"], None)

    def _write(self) -> None:
        if self.writes == self.dies_at:
            raise Crash
        self.writes += 1

    def _found(self, key: str, operation: str) -> tuple[bytes, str]:
        if key not in self.objects:
            code = "404" if operation == "HeadObject" else "NoSuchKey"
            raise ClientError({"Error": {"Code": code, "Message": "Not Found"}}, cast("Any", operation))
        return self.objects[key]


def _bucket(s3: FakeS3) -> Bucket:
    return Bucket(cast("S3Client", s3), "kept")


def _items(s3: FakeS3, prefix: str = "") -> list[Item]:
    bucket = _bucket(s3)
    return list(stored.read(bucket, stored.keys(bucket, prefix)))


def _replay(s3: FakeS3, verdict: Callable[[Item], Verdict]) -> list[bytes]:
    """Do what a replay does with its items."""
    sent = []
    for item in _items(s3):
        assert item.place
        sent.append(item.raw)
        item.place.settle(verdict(item))
    return sent


def _record(*data: str) -> bytes:
    records = [{"kinesis": {"data": one}} for one in data]
    return json.dumps({"payload": json.dumps({"Records": records})}).encode()


@pytest.mark.parametrize("verdict", [DELIVERED, DEFERRED])
@pytest.mark.parametrize("dies_at", range(7))
def test_a_replay_that_dies_before_any_write_loses_nothing_and_the_next_one_ends_it(
    verdict: Verdict, dies_at: int
) -> None:
    """Two copies, then the event, its reason and two days deleted: at each point the bytes are in the bucket."""
    s3 = FakeS3(dies_at=dies_at)
    s3.quarantine(NAME, RAW, "2026-11-28", "2026-11-29")
    whole = {f"replayed/{key}": s3.objects[key][0] for key in (event_key(NAME), reason_key(NAME))}
    if dies_at < 6:
        with pytest.raises(Crash):
            _replay(s3, lambda _: verdict)
    held = {key for key, (body, _) in s3.objects.items() if body == RAW}
    assert held
    # As long as it is in quarantine, it can be found by all that it could be found by.
    if event_key(NAME) in held:
        assert {reason_key(NAME), f"days/2026-11-28/{NAME}", f"days/2026-11-29/{NAME}"} < set(s3.objects)
    s3.dies_at = None
    _replay(s3, lambda _: verdict)
    replayed = {key: body for key, (body, _) in s3.objects.items() if key.startswith("replayed/")}
    assert replayed == whole
    assert event_key(NAME) not in s3.objects
    assert _replay(s3, lambda _: verdict) == []


def test_an_uninterrupted_replay_leaves_nothing_but_what_is_replayed() -> None:
    s3 = FakeS3()
    s3.quarantine(NAME, RAW, "2026-11-29")
    assert _replay(s3, lambda _: DELIVERED) == [RAW]
    assert set(s3.objects) == {f"replayed/{event_key(NAME)}", f"replayed/{reason_key(NAME)}"}


@pytest.mark.parametrize("verdict", [KEPT, UNKEPT, FAILED])
def test_what_is_not_taken_stays_untouched(verdict: Verdict) -> None:
    s3 = FakeS3()
    s3.quarantine(NAME, RAW, "2026-11-29")
    before = dict(s3.objects)
    assert _replay(s3, lambda _: verdict) == [RAW]
    assert s3.objects == before


def test_a_deferred_event_that_was_quarantined_anew_stays() -> None:
    """The adapter had no backlog and kept it there, or the backlog's own try was refused at once."""
    s3 = FakeS3()
    s3.quarantine(NAME, RAW, "2026-11-29")

    def deferred(_: Item) -> Verdict:
        s3.quarantine(NAME, RAW, "2026-11-30")
        return DEFERRED

    _replay(s3, deferred)
    assert not any(key.startswith("replayed/") for key in s3.objects)
    assert s3.objects[event_key(NAME)][0] == RAW


@pytest.mark.parametrize("dies_at", [0, 1])
def test_a_failure_record_that_could_not_be_moved_is_moved_next_time(dies_at: int) -> None:
    s3 = FakeS3(dies_at=dies_at)
    key = "aws/lambda/mapping/shard/2026/11/29/record"
    s3.put(key, _record("e30=", "W10="))
    with pytest.raises(Crash):
        _replay(s3, lambda _: DELIVERED)
    assert key in s3.objects
    s3.dies_at = None
    assert _replay(s3, lambda _: DELIVERED) == [b"{}", b"[]"]
    assert set(s3.objects) == {f"replayed/{key}"}


@pytest.mark.parametrize(
    ("second", "is_moved"), [(DELIVERED, True), (DEFERRED, True), (KEPT, True), (UNKEPT, False), (FAILED, False)]
)
def test_a_failure_record_is_moved_when_each_event_has_a_durable_place(second: Verdict, *, is_moved: bool) -> None:
    s3 = FakeS3()
    key = "aws/lambda/mapping/shard/2026/11/29/record"
    s3.put(key, _record("e30=", "W10="))
    _replay(s3, lambda item: second if item.raw == b"[]" else DELIVERED)
    assert set(s3.objects) == {f"replayed/{key}" if is_moved else key}


def test_items_are_named_by_where_they_are() -> None:
    s3 = FakeS3()
    s3.quarantine(NAME, RAW)
    s3.put("aws/lambda/record", _record("e30=", "W10="))
    s3.put("aws/lambda/other", b"no record")
    s3.put(f"replayed/{event_key(OTHER)}", b"{")
    found = [(item.name, item.raw, item.verdict) for item in _items(s3)]
    assert found == [
        ("s3://kept/aws/lambda/other", b"no record", Verdict(Outcome.REJECTED, code="not_a_failure_record")),
        ("s3://kept/aws/lambda/record:1", b"{}", None),
        ("s3://kept/aws/lambda/record:2", b"[]", None),
        (f"s3://kept/{event_key(NAME)}", RAW, None),
    ]


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", ["aws/lambda/record", event_key(OTHER), event_key(NAME)]),
        ("aws", ["aws/lambda/record"]),
        ("aws/lambda/record", ["aws/lambda/record"]),
        ("quarantine/", [event_key(OTHER), event_key(NAME)]),
        ("quarantine/schema", [event_key(NAME)]),
        (event_key(NAME), [event_key(NAME)]),
        ("quarantine/too_large/", []),
    ],
)
def test_a_prefix_stands_for_the_events_below_it(prefix: str, found: list[str]) -> None:
    s3 = FakeS3()
    s3.quarantine(NAME, RAW, "2026-11-29")
    s3.quarantine(OTHER, b"{", "2026-11-29")
    s3.put("aws/lambda/record", _record("e30="))
    assert list(stored.keys(_bucket(s3), prefix)) == found


@pytest.mark.parametrize("prefix", ["days/", "replayed/", "quarantined/"])
def test_where_no_events_can_be_is_a_wrong_prefix(prefix: str) -> None:
    with pytest.raises(SourceError):
        list(stored.keys(_bucket(FakeS3()), prefix))


def test_what_failed_in_datazone_is_not_sent_without_its_id() -> None:
    """Under its first token it would be answered with the failure, taken for delivered and put away."""
    name = f"failed_in_datazone/{'f' * 64}"
    s3 = FakeS3()
    s3.put(event_key(name), RAW)
    (item,) = _items(s3)
    assert item.verdict == Verdict(Outcome.REJECTED, code="no_lineage_event_id")
    s3.put(reason_key(name), json.dumps({"lineage_event_id": "abc123def456gh"}).encode())
    (item,) = _items(s3)
    assert (item.verdict, item.replays) == (None, "abc123def456gh")


def test_an_archived_event_is_unpacked_and_stays() -> None:
    s3 = FakeS3()
    s3.put("archive/day=2026-11-29/job_namespace=a/token.json.gz", gzip.compress(RAW))
    s3.put("archive/day=2026-11-29/job_namespace=a/torn.json.gz", gzip.compress(RAW)[:-9])
    whole, torn = _items(s3, "archive/day=2026-11-29/")
    assert (whole.raw, whole.place, whole.verdict) == (RAW, None, None)
    assert torn.verdict == Verdict(Outcome.REJECTED, code="not_an_archived_event")


def test_what_is_gone_by_the_time_it_is_fetched_is_skipped() -> None:
    bucket = _bucket(FakeS3())
    assert list(stored.read(bucket, [event_key(NAME)])) == []


def test_nobody_knows_how_many_events_failure_records_hold() -> None:
    assert stored.count([event_key(NAME), event_key(OTHER)]) == 2
    assert stored.count([event_key(NAME), "aws/lambda/record"]) is None


@pytest.mark.parametrize(
    ("path", "parts"),
    [("s3://kept", ("kept", "")), ("s3://kept/", ("kept", "")), ("s3://kept/a/b", ("kept", "a/b"))],
)
def test_an_address_is_a_bucket_and_a_prefix(path: str, parts: tuple[str, str]) -> None:
    assert stored.is_stored(path)
    assert stored.split(path) == parts


@pytest.mark.parametrize(
    "key", ["quarantine/x.event", f"quarantine/{NAME}.reason.json", f"replayed/{event_key(NAME)}", "days/x", ""]
)
def test_only_an_events_key_has_a_name(key: str) -> None:
    assert event_name(key) is None
    assert marker(key) is None
    assert event_name(event_key(NAME)) == NAME
    assert marker(f"days/2026-11-29/{NAME}") == ("2026-11-29", NAME)
