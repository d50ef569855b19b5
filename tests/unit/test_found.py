"""What reconciliation has found is still known after it has begun anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from adapter.found import Found, Position
from adapter.processing import UnansweredError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

DAY = 24 * 60 * 60.0
NOON = 1_796_040_000.0  # 2026-11-30T12:00:00Z


@pytest.fixture
def client() -> Iterator[S3Client]:
    with mock_aws():
        s3 = boto3.client("s3", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")
        s3.create_bucket(Bucket="bucket")
        yield s3


def test_there_is_no_position_before_the_first(client: S3Client) -> None:
    assert Found(client, "bucket").position() is None


def test_the_last_position_is_the_one(client: S3Client) -> None:
    for settled in (1.5, 2.5):
        Found(client, "bucket").save(Position(settled, 7.0))
    assert Found(client, "bucket").position() == Position(2.5, 7.0)


def test_a_bucket_that_cannot_be_read_is_no_first_time(client: S3Client) -> None:
    """Or reconciliation would begin anew, and leave out what lies before."""
    with pytest.raises(UnansweredError, match="quarantine_unreachable"):
        Found(client, "another").position()


def test_a_bucket_that_cannot_be_reached_is_named(client: S3Client) -> None:
    """It is no exception that nobody foresaw, about which somebody would be woken."""
    away = Found(client, "another")
    for ask in (lambda: away.save(Position(1, 1)), lambda: away.ids(NOON, NOON), lambda: away.add("1", NOON, "key")):
        with pytest.raises(UnansweredError, match="quarantine_unreachable"):
            ask()


def test_failures_are_known_by_the_days_datazone_took_them_on(client: S3Client) -> None:
    found = Found(client, "bucket")
    for number, moment in enumerate([NOON - 2 * DAY, NOON - DAY, NOON]):
        found.add(f"{number}", moment, "quarantine/failed_in_datazone/x.event")
    assert found.ids(NOON - DAY, NOON) == {"1", "2"}
    assert found.ids(NOON - 3 * DAY, NOON + DAY) == {"0", "1", "2"}
    body = client.get_object(Bucket="bucket", Key="reconcile/failed/2026-11-28/0")["Body"].read()
    assert body == b"quarantine/failed_in_datazone/x.event"
