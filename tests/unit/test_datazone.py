"""What DataZone and the network say, and what the adapter makes of it. No sockets: botocore's own Stubber answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    UnknownEndpointError,
)
from botocore.stub import Stubber

from adapter.accept import accept
from adapter.datazone import DataZone
from adapter.model import Cause, Code, Deferred, Delivered, Outcome, Rejected, RunEvent
from tests.fakes import run_event

if TYPE_CHECKING:
    from mypy_boto3_datazone import DataZoneClient

DOMAIN = "dzd_local"


def _accepted() -> RunEvent:
    verdict = accept(run_event())
    assert isinstance(verdict, RunEvent)
    return verdict


EVENT = _accepted()
GOOD = {"id": "abc123def456gh", "domainId": DOMAIN}
EXPECTED = {"domainIdentifier": DOMAIN, "event": EVENT.raw, "clientToken": EVENT.client_token}


@dataclass
class Clock:
    """A clock that only sleeping moves."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def _client() -> DataZoneClient:
    return boto3.client(
        "datazone",
        "us-east-1",
        aws_access_key_id="x",
        aws_secret_access_key="x",
        config=Config(retries={"mode": "standard", "total_max_attempts": 1}),
    )


def _posted(*answers: tuple[str, int, dict[str, str]] | dict[str, str], seconds: float = 2.0) -> tuple[Outcome, Clock]:
    """Deliver EVENT, with `seconds` for it, to a DataZone that answers so: (code, status, headers) or a success."""
    client, clock = _client(), Clock()
    with Stubber(client) as stub:
        for answer in answers:
            if isinstance(answer, dict):
                stub.add_response("post_lineage_event", answer, EXPECTED)
            else:
                code, status, headers = answer
                meta: Any = {"HTTPHeaders": headers}
                stub.add_client_error("post_lineage_event", code, "SECRET", status, response_meta=meta)
        zone = DataZone(client, DOMAIN, 2.0, clock=clock, sleep=clock.sleep)
        outcome = zone.deliver(EVENT, clock.now + seconds)
        stub.assert_no_pending_responses()
    return outcome, clock


def test_a_delivered_event_carries_its_bytes_and_its_token() -> None:
    """The stub refuses any other domain, bytes or token."""
    outcome, _ = _posted(GOOD)
    assert outcome == Delivered("abc123def456gh", DOMAIN, EVENT.client_token)


def test_a_validation_exception_is_the_event_s_fault_and_says_no_word_of_it() -> None:
    outcome, _ = _posted(("ValidationException", 400, {}))
    assert isinstance(outcome, Rejected)
    assert outcome.code is Code.REFUSED_BY_DATAZONE
    assert "SECRET" not in repr(outcome)


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        ("UnauthorizedException", 401, Cause.ACCESS_DENIED),
        ("ServiceQuotaExceededException", 402, Cause.QUOTA),
        ("AccessDeniedException", 403, Cause.ACCESS_DENIED),
        ("ResourceNotFoundException", 404, Cause.DOMAIN_MISSING),
        ("ConflictException", 409, Cause.CONFLICT),
        ("ThrottlingException", 429, Cause.THROTTLED),
        ("InternalServerException", 500, Cause.UNAVAILABLE),
        ("ExpiredTokenException", 403, Cause.ACCESS_DENIED),
        ("UnrecognizedClientException", 401, Cause.ACCESS_DENIED),
        ("TooManyRequestsException", 429, Cause.THROTTLED),
        ("502", 502, Cause.UNAVAILABLE),
        ("SerializationException", 400, Cause.UNEXPECTED),
        ("RequestEntityTooLarge", 413, Cause.UNEXPECTED),
        ("", 302, Cause.UNEXPECTED),
    ],
)
def test_everything_else_is_not_now(code: str, status: int, cause: Cause) -> None:
    """A slip in IAM must not refuse a day of lineage."""
    outcome, _ = _posted((code, status, {}))
    assert outcome == Deferred(cause, EVENT.client_token)


@pytest.mark.parametrize("first", [("ThrottlingException", 429, {}), ("InternalServerException", 500, {})])
def test_what_may_pass_is_tried_again_while_there_is_time(first: tuple[str, int, dict[str, str]]) -> None:
    outcome, clock = _posted(first, first, GOOD, seconds=3.0)
    assert isinstance(outcome, Delivered)
    assert 0.05 <= clock.slept[0] <= 0.1 <= clock.slept[1] <= 0.2


def test_an_outcome_has_each_call_with_why_it_was_not_the_last() -> None:
    throttled: tuple[str, int, dict[str, str]] = ("ThrottlingException", 429, {})
    denied: tuple[str, int, dict[str, str]] = ("AccessDeniedException", 403, {})
    assert [call.cause for call in _posted(throttled, throttled, GOOD, seconds=3.0)[0].calls] == [
        Cause.THROTTLED,
        Cause.THROTTLED,
        None,
    ]
    assert [call.cause for call in _posted(throttled, denied, seconds=3.0)[0].calls] == [
        Cause.THROTTLED,
        Cause.ACCESS_DENIED,
    ]
    assert [call.cause for call in _posted(("ValidationException", 400, {}))[0].calls] == [None]
    assert _posted(seconds=1.0)[0].calls == ()


def test_a_call_is_timed_by_itself_without_the_pause_before_it() -> None:
    clock = Clock()
    answers = iter([(0.5, ("ThrottlingException", 429)), (0.25, None)])

    class Slow:
        def post_lineage_event(self, **_: object) -> dict[str, str]:
            seconds, refusal = next(answers)
            clock.now += seconds
            if refusal:
                meta: Any = {"HTTPStatusCode": refusal[1]}
                raise ClientError({"Error": {"Code": refusal[0]}, "ResponseMetadata": meta}, "PostLineageEvent")
            return GOOD

    client: Any = Slow()
    outcome = DataZone(client, DOMAIN, 1.0, clock=clock, sleep=clock.sleep).deliver(EVENT, clock.now + 10)
    assert [call.seconds for call in outcome.calls] == pytest.approx([0.5, 0.25])


@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "ResourceNotFoundException", "ServiceQuotaExceededException", "ConflictException"]
)
def test_what_will_not_pass_by_itself_is_asked_once(code: str) -> None:
    outcome, clock = _posted((code, 400, {}), seconds=60.0)
    assert isinstance(outcome, Deferred)
    assert clock.slept == []


def test_no_attempt_starts_that_might_outlast_the_deadline() -> None:
    outcome, clock = _posted(("ThrottlingException", 429, {}), seconds=2.049)
    assert outcome == Deferred(Cause.THROTTLED, EVENT.client_token)
    assert clock.slept == []


def test_without_time_for_one_attempt_nothing_is_started() -> None:
    outcome, _ = _posted(seconds=1.99)
    assert outcome == Deferred(Cause.NOT_STARTED, EVENT.client_token)


def test_retry_after_is_honoured_where_it_fits() -> None:
    outcome, clock = _posted(("ThrottlingException", 429, {"x-amz-retry-after": "1500"}), GOOD, seconds=4.0)
    assert isinstance(outcome, Delivered)
    assert clock.slept == [1.5]


def test_retry_after_that_does_not_fit_is_passed_on() -> None:
    outcome, clock = _posted(("ThrottlingException", 429, {"x-amz-retry-after": "9000"}), seconds=4.0)
    assert outcome == Deferred(Cause.THROTTLED, EVENT.client_token, retry_after=9.0)
    assert clock.slept == []


@pytest.mark.parametrize("value", ["", "-1", "soon", "1.5", "²"])
def test_a_retry_after_that_is_no_number_is_ignored(value: str) -> None:
    outcome, _ = _posted(("ThrottlingException", 429, {"x-amz-retry-after": value}), seconds=2.0)
    assert outcome == Deferred(Cause.THROTTLED, EVENT.client_token)


def test_a_success_without_an_id_did_not_come_from_datazone() -> None:
    outcome, _ = _posted({})
    assert outcome == Deferred(Cause.UNEXPECTED, EVENT.client_token)


class Raising:
    """A client whose every call fails so."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def post_lineage_event(self, **_: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ReadTimeoutError(endpoint_url="x"), Cause.TIMEOUT),
        (ConnectTimeoutError(endpoint_url="x"), Cause.TIMEOUT),
        (EndpointConnectionError(endpoint_url="x"), Cause.UNREACHABLE),
        (ConnectionClosedError(endpoint_url="x"), Cause.UNREACHABLE),
        (NoCredentialsError(), Cause.ACCESS_DENIED),
        (UnknownEndpointError(service_name="x", region_name="y"), Cause.UNEXPECTED),
        (ClientError({"Error": {"Code": "ValidationException"}}, "AssumeRole"), Cause.UNEXPECTED),
        (
            ClientError(
                {"Error": {"Code": "AccessDenied"}, "ResponseMetadata": {"HTTPStatusCode": 403}},  # type: ignore[typeddict-item]  # a part is enough
                "AssumeRole",
            ),
            Cause.ACCESS_DENIED,
        ),
    ],
)
def test_what_happens_on_the_way_is_never_the_event_s_fault(error: Exception, cause: Cause) -> None:
    client: Any = Raising(error)
    clock = Clock()
    zone = DataZone(client, DOMAIN, 2.0, clock=clock, sleep=clock.sleep)
    assert zone.deliver(EVENT, clock.now + 2.0) == Deferred(cause, EVENT.client_token)
