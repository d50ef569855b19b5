"""What is archived is the bytes that were delivered, and no copy is missing unseen."""

from __future__ import annotations

import gzip
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import boto3
import pytest
from moto import mock_aws

from adapter import bootstrap
from adapter.accept import accept
from adapter.archive import Archive, Archiving
from adapter.breaker import Breaker
from adapter.memory import Remembering
from adapter.model import Call, Cause, Deferred, Delivered, Outcome, RunEvent
from tests.fakes import FakeLineage, delivered, run_event
from tests.unit.test_bootstrap import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

NOON = 1_796_040_000.0  # 2026-11-30T12:00:00Z
NEVER = 1e12


@pytest.fixture
def client() -> Iterator[S3Client]:
    with mock_aws():
        s3 = boto3.client("s3", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")
        s3.create_bucket(Bucket="archive")
        yield s3


def event(namespace: str = "retail") -> RunEvent:
    accepted = accept(run_event(job={"namespace": namespace, "name": "orders"}))
    assert isinstance(accepted, RunEvent)
    return accepted


def archive(client: S3Client, bucket: str = "archive") -> Archive:
    return Archive(client, bucket, lambda: NOON)


def keys(client: S3Client) -> list[str]:
    return [found["Key"] for found in client.list_objects_v2(Bucket="archive").get("Contents", [])]


def test_the_bytes_are_kept_by_day_and_namespace_with_what_they_are_known_by(client: S3Client) -> None:
    one = event("s3://lake/raw zone")
    outcome = Archiving(FakeLineage(), archive(client), 1.0).deliver(one, NEVER)
    assert outcome == delivered(one)
    key = f"archive/day=2026-11-30/job_namespace=s3%3A%2F%2Flake%2Fraw%20zone/{one.client_token}.json.gz"
    assert keys(client) == [key]
    stored = client.get_object(Bucket="archive", Key=key)
    assert gzip.decompress(stored["Body"].read()) == one.raw
    assert stored["Metadata"] == {
        "lineage-event-id": "abc123def456gh",
        "domain-id": "dzd_local",
        "client-token": one.client_token,
        "sha256": sha256(one.raw).hexdigest(),
    }


def test_an_event_that_is_delivered_again_is_one_object(client: S3Client) -> None:
    archiving = Archiving(FakeLineage(), archive(client), 1.0)
    for _ in range(3):
        archiving.deliver(event(), NEVER)
    assert len(keys(client)) == 1


@pytest.mark.parametrize("namespace", ["", "..", "a/../../b", "\ud800", "\u00e9\n", "x" * 5000, "%2F"])
def test_any_namespace_makes_a_key_of_its_own(client: S3Client, namespace: str) -> None:
    for one in (event(namespace), event("retail")):
        assert archive(client).keep(one, cast("Delivered", delivered(one)))
    assert len(keys(client)) == 2
    assert all(len(key.encode()) <= 1024 and key.count("/") == 3 for key in keys(client))


def test_a_copy_that_s3_does_not_take_makes_its_event_come_again(client: S3Client) -> None:
    """It is deferred although DataZone has it: the next time, under the same token, the copy is tried again."""
    lineage, one = FakeLineage(), event()
    assert Archiving(lineage, archive(client, "away"), 1.0).deliver(one, NEVER) == Deferred(
        Cause.ARCHIVE_UNREACHABLE, one.client_token
    )
    assert Archiving(lineage, archive(client), 1.0).deliver(one, NEVER) == delivered(one)
    assert lineage.given == [one, one]
    assert len(keys(client)) == 1


def test_nothing_is_begun_that_could_end_too_late(client: S3Client) -> None:
    outcome = Archiving(FakeLineage(), archive(client), 1.0, lambda: 9.5).deliver(event(), 10.0)
    assert isinstance(outcome, Deferred)
    assert keys(client) == []


def test_a_copy_that_is_late_does_not_hide_the_call_that_was_made(client: S3Client) -> None:
    lineage = FakeLineage(lambda one: replace(delivered(one), calls=(Call(0.5),)))
    outcome = Archiving(lineage, archive(client, "away"), 1.0).deliver(event(), NEVER)
    assert (type(outcome), outcome.calls) == (Deferred, (Call(0.5),))


def test_what_is_not_delivered_is_not_archived(client: S3Client) -> None:
    def deferred(one: RunEvent) -> Outcome:
        return Deferred(Cause.THROTTLED, one.client_token)

    assert isinstance(Archiving(FakeLineage(deferred), archive(client), 1.0).deliver(event(), NEVER), Deferred)
    assert keys(client) == []


def test_an_archive_that_is_away_does_not_open_the_breaker_nor_cost_datazone_a_call(client: S3Client) -> None:
    asked = FakeLineage()
    for archiving in (
        Archiving(Breaker(asked), archive(client, "away"), 1.0),
        Archiving(Remembering(asked), archive(client, "away"), 1.0),
    ):
        for _ in range(5):
            assert archiving.deliver(event(), NEVER) == Deferred(Cause.ARCHIVE_UNREACHABLE, event().client_token)
    assert len(asked.given) == 5 + 1


def test_without_an_archive_nothing_of_it_is_in_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    for build in (bootstrap.http, bootstrap.kinesis, bootstrap.backlog):
        door: Any = build(ENVIRONMENT)
        assert not isinstance(door.ingest.lineage, Archiving)
        door = build(ENVIRONMENT | {"ARCHIVE_BUCKET": "archive"})
        assert isinstance(door.ingest.lineage, Archiving)
