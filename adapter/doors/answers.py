"""An outcome as an HTTP answer: status, headers, JSON body.

Every answer has a body, since the Java client dies on an empty one. Statuses are chosen for what the clients do with
them: they resend on 503 and drop on 500, 502, 504 and 429.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from adapter.model import Code, Deferred, Delivered, Denial, Outcome, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from adapter.model import Violation

STATUSES = {
    Code.NOT_UTF8: (400, "The body is not UTF-8"),
    Code.NOT_JSON: (400, "The body is not JSON"),
    Code.DUPLICATE_KEY: (400, "A key occurs twice"),
    Code.TOO_DEEP: (400, "The body is nested too deeply"),
    Code.NOT_AN_OBJECT: (400, "The body is not the JSON that belongs here"),
    Code.NAMESPACE_NOT_ALLOWED: (403, "This producer may not write to that job namespace"),
    Code.TOO_LARGE: (413, "The event is too large"),
    Code.UNSUPPORTED_ENCODING: (415, "The body's encoding is not supported"),
    Code.UNSUPPORTED_KIND: (422, "DataZone takes run events only"),
    Code.SCHEMA_VIOLATION: (422, "The event violates OpenLineage 2-0-2"),
    Code.REFUSED_BY_DATAZONE: (422, "DataZone refused the event"),
    Code.BACKLOG_UNREACHABLE: (202, "The event is kept"),
}

# The Java client waits and resends once, unless it is asked to wait for more than five seconds.
RETRY_AFTER_SECONDS = 2

Answer = dict[str, "Any"]


def of(outcome: Outcome) -> Answer:
    """Answer for one event that is in one of the three durable places."""
    match outcome:
        case Delivered():
            return ok(_delivered(outcome))
        case Deferred(client_token=client_token):
            return _answer(202, {"status": "deferred"} | _token(client_token), "application/json")
        case Rejected(code=code, detail=detail, errors=errors, quarantine_key=key):
            status, title = STATUSES[code]
            return problem(status, code.value, title, detail, errors=_errors(errors), quarantineKey=key)
        case _:
            assert_never(outcome)


def of_batch(outcomes: Sequence[Outcome | None]) -> Answer:
    """Answer for an array of events, as OpenLineage's OpenAPI has it (POST /lineage/batch, 200).

    None stands for an event that nothing took. One that waits in the backlog has succeeded: its sender is done.
    """
    failed = [failure for index, outcome in enumerate(outcomes) for failure in _failed(index, outcome)]
    retriable = sum(failure["retriable"] for failure in failed)
    summary = {
        "received": len(outcomes),
        "successful": len(outcomes) - len(failed),
        "failed": len(failed),
        "retriable": retriable,
        "non_retriable": len(failed) - retriable,
    }
    status = "partial_success" if failed else "success"
    return ok({"status": status, "summary": summary, "failed_events": failed})


def ok(body: Mapping[str, object]) -> Answer:
    """Answer 200 with `body`."""
    return _answer(200, body, "application/json")


def denied(reason: Denial) -> Answer:
    """Answer somebody whose request is not even looked at. What may be over in a moment asks for another try."""
    match reason:
        case Denial.SECRET_UNREADABLE:
            return unavailable()
        case Denial.UNKNOWN_PRODUCER:
            return problem(403, reason.value, "Unknown producer", "the token's producer has no namespaces here")
        case _:
            challenge = {"WWW-Authenticate": "Bearer"}
            return problem(401, "unauthenticated", "Nobody has said who you are", "send a bearer token", challenge)


def unavailable(client_token: str | None = None) -> Answer:
    """Answer 503: nothing took the event, and the client is to send it again."""
    detail = f"nothing could take the event now; send it again in {RETRY_AFTER_SECONDS} seconds"
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return problem(503, "unavailable", "Not now", detail, headers, **_token(client_token))


def problem(
    status: int, code: str, title: str, detail: str, headers: Mapping[str, str] | None = None, /, **more: object
) -> Answer:
    """Answer with an RFC 9457 problem; `more` are its further members."""
    body = {
        "type": f"urn:lineage-adapter:problem:{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        "errors": [],
    }
    return _answer(status, body | more, "application/problem+json", headers)


def _token(client_token: str | None) -> dict[str, str]:
    return {"clientToken": client_token} if client_token else {}


def _answer(
    status: int, body: Mapping[str, object], content_type: str, headers: Mapping[str, str] | None = None
) -> Answer:
    return {
        "statusCode": status,
        "headers": {"Content-Type": content_type, **(headers or {})},
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }


def _delivered(outcome: Delivered) -> dict[str, object]:
    body: dict[str, object] = {
        "status": "delivered",
        "id": outcome.lineage_event_id,
        "domainId": outcome.domain_id,
        "clientToken": outcome.client_token,
    }
    return body | ({"warnings": _errors(outcome.warnings)} if outcome.warnings else {})


def _errors(violations: Iterable[Violation]) -> list[dict[str, str]]:
    return [{"path": one.path, "rule": one.rule, "message": one.message} for one in violations]


def _failed(index: int, outcome: Outcome | None) -> list[dict[str, Any]]:
    match outcome:
        case None:
            return [{"index": index, "reason": "unavailable", "retriable": True}]
        case Rejected(code=code, detail=detail):
            return [{"index": index, "reason": f"{code.value}: {detail}", "retriable": False}]
        case _:
            return []
