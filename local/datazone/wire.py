"""DataZone's lineage operations on the wire: REST-JSON as botocore's service model has it.

Read and written by hand: moto's own machinery, which goes by the service model, takes twice as long as all the rest of
a request, and a load test makes tens of thousands of them.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from moto.iam.models import get_account_id_from

from local.datazone.models import (
    MAX_RESULTS,
    AccessDeniedError,
    DataZoneError,
    Domain,
    Filter,
    LineageEvent,
    NotFoundError,
    ValidationError,
    datazone_backends,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from moto.core.request import Request as MotoRequest

# Told by a fault: the processing of the event that is posted will fail.
FAILS_HEADER = "x-local-fails"

type Answer = tuple[int, dict[str, str], bytes]

_PATH = re.compile(r"/v2/domains/(?P<domain>[^/]*)/lineage/events(/(?P<event>[^/]+))?")
_SIGNATURE = re.compile(r"Credential=(?P<key>[^/,]+)/[^/,]+/(?P<region>[^/,]+)/")


def dispatch(request: MotoRequest, full_url: str, headers: object) -> Answer:
    """Answer a request that moto passes on."""
    del full_url, headers  # as in the request
    named = {name.lower(): value for name, value in request.headers.items()}
    return answer(request.method, request.raw_path, request.query_string.decode(), named, request.data)


def answer(method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> Answer:
    """Answer one request; `headers` by their names in lower case."""
    try:
        return _operation(method, path, dict(parse_qsl(query)), headers, body)
    except DataZoneError as error:
        status, about, told = _json({"message": str(error)}, error.status)
        return status, about | {"x-amzn-errortype": error.code}, told


def _operation(method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> Answer:
    signature = _SIGNATURE.search(headers.get("authorization", ""))
    if signature is None:
        raise AccessDeniedError("the request is not signed")
    account = get_account_id_from(signature["key"])
    where = _PATH.fullmatch(path)
    if where is None:
        raise NotFoundError("there is no such operation here")
    domain = datazone_backends[account][signature["region"]].domain(unquote(where["domain"]))
    match method, where["event"]:
        case "POST", None:
            return _post(domain, headers, body, f"arn:aws:iam::{account}:access-key/{signature['key']}")
        case "GET", None:
            return _list(domain, query)
        case "GET", str(identifier):
            return _get(domain, unquote(identifier))
        case _:
            raise NotFoundError("there is no such operation here")


def _post(domain: Domain, headers: Mapping[str, str], body: bytes, caller: str) -> Answer:
    event = domain.post(body, headers.get("client-token", ""), caller, fails=FAILS_HEADER in headers)
    return _json({"id": event.id, "domainId": event.domain_id})


def _get(domain: Domain, identifier: str) -> Answer:
    event = domain.get(identifier)
    about = {
        "Id": event.id,
        "Domain-Id": event.domain_id,
        "Processing-Status": event.status,
        "Event-Time": format_datetime(event.time.astimezone(UTC), usegmt=True),
        "Created-By": event.created_by,
        "Created-At": format_datetime(event.created_at, usegmt=True),
    }
    return 200, {"Content-Type": "application/octet-stream"} | about, event.raw


def _list(domain: Domain, query: Mapping[str, str]) -> Answer:
    wanted = Filter(
        query.get("processingStatus"),
        _moment(query, "timestampAfter"),
        _moment(query, "timestampBefore"),
        descending=query.get("sortOrder") == "DESCENDING",
    )
    limit = query.get("maxResults", str(MAX_RESULTS))
    if not (limit.isascii() and limit.isdigit()):
        raise ValidationError("maxResults must be a number")
    events, next_token = domain.list(wanted, int(limit), query.get("nextToken"))
    page: dict[str, Any] = {"items": [_summary(event) for event in events]}
    return _json(page | ({"nextToken": next_token} if next_token else {}))


def _summary(event: LineageEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "domainId": event.domain_id,
        "processingStatus": event.status,
        "eventTime": event.time.timestamp(),
        "eventSummary": {"openLineageRunEventSummary": event.summary.run_event},
        "createdBy": event.created_by,
        "createdAt": event.created_at.timestamp(),
    }


def _moment(query: Mapping[str, str], name: str) -> datetime | None:
    if name not in query:
        return None
    try:
        moment = datetime.fromisoformat(query[name])
    except ValueError as error:
        raise ValidationError(f"{name} must be a date and time (ISO 8601)") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _json(value: object, status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()
