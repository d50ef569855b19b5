"""DataZone is asked page by page, waits where it must, and gives up where there is no time."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from moto import mock_aws

from adapter.model import Cause
from adapter.processing import PAGE, Processing, Status, UnansweredError
from local import datazone
from local.datazone import models
from tests.fakes import run_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_datazone import DataZoneClient

DOMAIN = "dzd_local"
NEVER = 4e9  # seconds since 1970: later than all there is


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[DataZoneClient]:
    """Give a DataZone that never begins to process."""
    datazone.register()
    monkeypatch.setattr(models, "_REQUESTED", timedelta(hours=1))
    monkeypatch.setattr(models, "_PROCESSING", timedelta(hours=1))
    with mock_aws():
        models.datazone_backends["123456789012"]["us-east-1"].reset()
        yield boto3.client("datazone", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")


class Clock:
    """A time that passes only in sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Troubled:
    """A client whose first calls fail, each with its error."""

    def __init__(self, client: DataZoneClient, *errors: Exception) -> None:
        self._client = client
        self._errors = list(errors)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the client has
        def call(**arguments: object) -> object:
            if self._errors:
                raise self._errors.pop(0)
            return getattr(self._client, name)(**arguments)

        return call


def refusal(code: str, status: int, **headers: str) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": ""},
        "ResponseMetadata": {"HTTPStatusCode": status, "HTTPHeaders": headers},
    }
    return ClientError(response, "ListLineageEvents")


def asking(client: object, clock: Clock | None = None) -> Processing:
    clock = clock or Clock()
    return Processing(client, DOMAIN, 6.0, clock=clock, sleep=clock.sleep)  # type: ignore[arg-type]  # or in place of one


def post(client: DataZoneClient, run: int) -> str:
    return client.post_lineage_event(domainIdentifier=DOMAIN, event=run_event(run), clientToken=str(run))["id"]


def test_all_pages_are_read(client: DataZoneClient) -> None:
    posted = [post(client, run) for run in range(2 * PAGE + 1)]
    listed = list(asking(client).listed(Status.REQUESTED, 0, NEVER, 60))
    assert [one.lineage_event_id for one in listed] == posted
    assert {one.namespace for one in listed} == {"retail"}


def test_only_the_status_and_the_time_asked_for_are_listed(client: DataZoneClient) -> None:
    post(client, 1)
    (one,) = asking(client).listed(Status.REQUESTED, 0, NEVER, 60)
    assert list(asking(client).listed(Status.FAILED, 0, NEVER, 60)) == []
    assert list(asking(client).listed(Status.REQUESTED, one.created_at + 1, NEVER, 60)) == []
    assert list(asking(client).listed(Status.REQUESTED, 0, one.created_at - 1, 60)) == []


def test_the_bytes_come_back_as_they_are(client: DataZoneClient) -> None:
    assert asking(client).raw(post(client, 7), 60) == run_event(7)


@pytest.mark.parametrize(
    "error",
    [
        refusal("ThrottlingException", 429),
        refusal("InternalServerException", 500),
        ReadTimeoutError(endpoint_url="https://datazone"),
    ],
)
def test_passing_troubles_are_waited_out(client: DataZoneClient, error: Exception) -> None:
    post(client, 1)
    clock = Clock()
    listed = list(asking(Troubled(client, error, error), clock).listed(Status.REQUESTED, 0, NEVER, 60))
    assert len(listed) == 1
    assert len(clock.slept) == 2


def test_what_datazone_asks_for_is_waited(client: DataZoneClient) -> None:
    clock = Clock()
    throttled = refusal("ThrottlingException", 429, **{"x-amz-retry-after": "7000"})
    list(asking(Troubled(client, throttled), clock).listed(Status.FAILED, 0, NEVER, 60))
    assert clock.slept == [7.0]


def test_nothing_is_tried_that_could_not_end_in_time(client: DataZoneClient) -> None:
    clock = Clock()
    errors = [refusal("ThrottlingException", 429)] * 100
    with pytest.raises(UnansweredError, match="throttled"):
        list(asking(Troubled(client, *errors), clock).listed(Status.FAILED, 0, NEVER, 60))
    assert clock.now + 6.0 <= 60


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (refusal("AccessDeniedException", 403), Cause.ACCESS_DENIED),
        (refusal("ResourceNotFoundException", 404), Cause.DOMAIN_MISSING),
        (refusal("ValidationException", 400), Cause.UNEXPECTED),
    ],
)
def test_what_waiting_does_not_mend_is_not_waited_for(client: DataZoneClient, error: Exception, cause: Cause) -> None:
    clock = Clock()
    with pytest.raises(UnansweredError) as caught:
        asking(Troubled(client, error), clock).raw("a" * 14, 60)
    assert caught.value.cause is cause
    assert clock.slept == []
