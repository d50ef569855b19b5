"""The gateway's question, whose token this is, and the answer in the form that it was asked in.

Shapes: Amazon API Gateway developer guide, "Control access to HTTP APIs with AWS Lambda authorizers" (format 2.0,
simple responses) and "Use API Gateway Lambda authorizers" (REST APIs: TOKEN and REQUEST, an IAM policy). The gateway
keeps an answer for as long as its authorizer's time to live says, by the value of the header.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from adapter.doors.gateway import request_id
from adapter.model import Denial
from adapter.producers import TOKEN, Producer, holder
from adapter.secret import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from adapter.producers import Producers, Token
    from adapter.secret import Secret

# RFC 6750; a scheme is written in any case (RFC 9110, 11.1). A token has one length, so nothing long is ever hashed.
_BEARER = re.compile(rf"(?i:bearer) +({TOKEN.pattern})")

# A token that nobody has may just have been issued: the secret is then read again if it was read longer ago than this.
NEWS_SECONDS = 5.0

Answer = dict[str, "Any"]


class Records(Protocol):
    """Who is told of those who are let in and those who are not."""

    def begin(self, context: object, gateway_request_id: str | None = None) -> None:
        """Note which invocation it is."""

    def admitted(self, producer: str, token_id: str) -> None:
        """Note that a token was let in."""

    def denied(self, reason: Denial, cause: str | None = None, producer: str | None = None) -> None:
        """Note that somebody was not let in."""

    def fault(self, error: Exception) -> None:
        """Note an exception that nothing foresaw."""

    def flush(self) -> None:
        """Write what was counted."""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Bearer tokens against the secret's hashes. Whatever is not understood or known is denied."""

    secret: Secret
    records: Records

    def __call__(self, event: Mapping[str, Any], context: object) -> Answer:
        """Answer an authorizer event: HTTP API format 2.0 with a simple response, any other with a policy."""
        try:
            self.records.begin(context, request_id(event))
            admitted = self._admitted(_authorization(event))
        except Exception as error:  # noqa: BLE001 - raised, it would be logged with its message, and answered with a 500
            self.records.fault(error)
            self.records.denied(Denial.UNEXPECTED)
            admitted = None
        self.records.flush()
        return _simple(admitted) if event.get("version") == "2.0" else _policy(admitted, event.get("methodArn", ""))

    def _admitted(self, authorization: str) -> Producer | None:
        bearer = _BEARER.fullmatch(authorization)
        if bearer is None:
            self.records.denied(Denial.NOT_A_TOKEN if authorization else Denial.MISSING)
            return None
        try:
            found = holder(self.secret.producers(), bearer[1]) or holder(self._news(), bearer[1])
        except UnreadableError as error:
            self.records.denied(Denial.SECRET_UNREADABLE, str(error))
            return None
        return self._judged(found)

    def _news(self) -> Producers:
        return self.secret.producers(NEWS_SECONDS)

    def _judged(self, found: tuple[Producer, Token] | None) -> Producer | None:
        if found is None:
            self.records.denied(Denial.UNKNOWN_TOKEN)
            return None
        producer, token = found
        if token.expired(time.time()):
            self.records.denied(Denial.EXPIRED, producer=producer.name)
            return None
        self.records.admitted(producer.name, token.token_id)
        return producer


def _authorization(event: Mapping[str, Any]) -> str:
    if event.get("type") == "TOKEN":
        return str(event.get("authorizationToken", ""))
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    return str(headers.get("authorization", ""))


def _context(producer: Producer) -> dict[str, str]:
    return {"producer": producer.name, "namespaces": json.dumps(producer.namespaces)}


def _simple(producer: Producer | None) -> Answer:
    return {"isAuthorized": True, "context": _context(producer)} if producer else {"isAuthorized": False}


def _policy(producer: Producer | None, method_arn: str) -> Answer:
    """Allow or deny the whole stage: the gateway keeps the policy and asks it for other paths too."""
    stage = "/".join(method_arn.split("/")[:2])
    statement = {
        "Action": "execute-api:Invoke",
        "Effect": "Allow" if producer else "Deny",
        "Resource": f"{stage}/*",
    }
    answer: Answer = {
        "principalId": producer.name if producer else "nobody",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
    }
    return answer | ({"context": _context(producer)} if producer else {})
