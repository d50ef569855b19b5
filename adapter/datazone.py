"""DataZone, and the only module that knows it: one call, and one table from what it says to what that means.

Retrying is done here and not by botocore: botocore bounds the number of attempts but not their time, waits for as long
as an `x-amz-retry-after` asks and cannot know when the door has to answer.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    HTTPClientError,
    NoCredentialsError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as NoConnectionError

from adapter.model import Call, Cause, Code, Deferred, Delivered, Outcome, Rejected, RunEvent, Violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_datazone import DataZoneClient


# Amazon DataZone API reference, PostLineageEvent, Errors. ValidationException alone is the event's own fault: a slip in
# IAM, a domain that went away or a full quota must not refuse a day of lineage.
_ITS_OWN_FAULT = "ValidationException"
_NOT_NOW = {
    "ThrottlingException": Cause.THROTTLED,
    "InternalServerException": Cause.UNAVAILABLE,
    "AccessDeniedException": Cause.ACCESS_DENIED,
    "UnauthorizedException": Cause.ACCESS_DENIED,
    "ResourceNotFoundException": Cause.DOMAIN_MISSING,
    "ServiceQuotaExceededException": Cause.QUOTA,
    "ConflictException": Cause.CONFLICT,
}
# For codes that AWS's front ends answer with and the API reference does not list (ExpiredTokenException and its like).
_NOT_NOW_BY_STATUS = {401: Cause.ACCESS_DENIED, 403: Cause.ACCESS_DENIED, 429: Cause.THROTTLED}
_SERVER_ERROR = 500

# Worth another attempt within this call; the others want a person or much more time.
PASSING = frozenset({Cause.TIMEOUT, Cause.UNREACHABLE, Cause.THROTTLED, Cause.UNAVAILABLE})
_FIRST_PAUSE = 0.1


class DataZone:
    """PostLineageEvent for one domain. Safe to share among threads, as botocore's clients are."""

    def __init__(
        self,
        client: DataZoneClient,
        domain_id: str,
        attempt_seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Post to `domain_id` through `client`; its timeouts let one attempt take at most `attempt_seconds`."""
        self._client = client
        self._domain_id = domain_id
        self._attempt_seconds = attempt_seconds
        self._clock = clock
        self._sleep = sleep

    def deliver(self, event: RunEvent, deadline: float) -> Outcome:
        """Post the exact bytes of `event` under its client token; return by `deadline` (monotonic seconds).

        Passing troubles are tried again while another attempt fits, after a growing pause with jitter or what DataZone
        asks for in `x-amz-retry-after`, whichever is longer. Never raises for anything DataZone or the network does.
        """
        outcome: Outcome = Deferred(Cause.NOT_STARTED, event.client_token)
        pause, wait = _FIRST_PAUSE, 0.0
        while self._clock() + wait + self._attempt_seconds <= deadline:
            if wait:
                self._sleep(wait)
            outcome = self._post(event, outcome.calls)
            if not isinstance(outcome, Deferred) or outcome.cause not in PASSING:
                return outcome
            wait = max(outcome.retry_after or 0.0, random.uniform(pause / 2, pause))  # noqa: S311 - jitter, not a secret
            pause *= 2
        return outcome

    def _post(self, event: RunEvent, before: tuple[Call, ...]) -> Outcome:
        """Call DataZone once; the outcome has this call after those `before`."""
        began = self._clock()
        try:
            answer = self._client.post_lineage_event(
                domainIdentifier=self._domain_id, event=event.raw, clientToken=event.client_token
            )
        except (ClientError, BotoCoreError) as error:
            outcome = _said_no(error, event)
            call = Call(self._clock() - began, outcome.cause if isinstance(outcome, Deferred) else None)
            return replace(outcome, calls=(*before, call))
        calls = (*before, Call(self._clock() - began))
        if not answer.get("id"):
            # A success without DataZone's id came from something that is not DataZone, a proxy perhaps.
            return Deferred(Cause.UNEXPECTED, event.client_token, calls=calls)
        return Delivered(answer["id"], self._domain_id, event.client_token, event.warnings, calls)


def _said_no(error: ClientError | BotoCoreError, event: RunEvent) -> Deferred | Rejected:
    if isinstance(error, BotoCoreError):
        return not_now(error, event.client_token)
    code = error.response.get("Error", {}).get("Code", "")
    # A role to assume makes other calls on the way; what they say is never about the event.
    if error.operation_name == "PostLineageEvent" and code == _ITS_OWN_FAULT:
        # DataZone's message may quote the event: its rule is named, its words are not repeated.
        return Rejected(
            Code.REFUSED_BY_DATAZONE,
            "DataZone refused the event",
            (Violation("", code, "must be an event that DataZone takes"),),
        )
    return not_now(error, event.client_token)


def not_now(error: ClientError | BotoCoreError, client_token: str | None = None) -> Deferred:
    """Say why DataZone did not do what it was asked."""
    if isinstance(error, BotoCoreError):
        return Deferred(_could_not_ask(error), client_token)
    code = error.response.get("Error", {}).get("Code", "")
    return Deferred(_cause(code, error), client_token, _retry_after(error))


def _cause(code: str, error: ClientError) -> Cause:
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if known := _NOT_NOW.get(code) or _NOT_NOW_BY_STATUS.get(status):
        return known
    return Cause.UNAVAILABLE if status >= _SERVER_ERROR else Cause.UNEXPECTED


def _retry_after(error: ClientError) -> float | None:
    headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    milliseconds = headers.get("x-amz-retry-after", "")
    return int(milliseconds) / 1000 if milliseconds.isascii() and milliseconds.isdigit() else None


def _could_not_ask(error: BotoCoreError) -> Cause:
    match error:
        case ReadTimeoutError() | ConnectTimeoutError():
            return Cause.TIMEOUT
        case HTTPClientError() | NoConnectionError():
            return Cause.UNREACHABLE
        case NoCredentialsError():
            return Cause.ACCESS_DENIED
        case _:
            return Cause.UNEXPECTED
