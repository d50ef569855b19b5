"""API Gateway's envelope, opened: payload formats 1.0 and 2.0, base64 or not.

Shapes: Amazon API Gateway developer guide, "AWS Lambda proxy integrations for HTTP APIs"; a REST API's proxy
integration sends format 1.0 as well, without a version.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any
# Sent by `lineage-adapter` with what DataZone took once and could not process: its id of that.
REPLAYS = "lineage-replays"
# Amazon DataZone API reference, GetLineageEvent, identifier.
_LINEAGE_EVENT_ID = re.compile(r"[a-z0-9]{14}")


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request as the emitter made it. `path` has no slash at its end; `body` is still compressed.

    `authorizer` is what the gateway has found out about whoever sent it; empty where nobody was asked. `replays` is
    what the header of that name says, if it can be an id of DataZone's.
    """

    method: str
    path: str
    content_encoding: str
    body: bytes
    authorizer: Mapping[str, Any]
    replays: str | None = None


def request(event: Mapping[str, Any]) -> Request:
    """Open the envelope `event`. Raises KeyError for what is no API Gateway event at all."""
    if event.get("version") == "2.0":
        method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    else:
        method, path = event["httpMethod"], _path(event)
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    replays = headers.get(REPLAYS, "")
    return Request(
        method,
        path.rstrip("/"),
        headers.get("content-encoding", ""),
        _body(event),
        _authorizer(event),
        replays if _LINEAGE_EVENT_ID.fullmatch(replays) else None,
    )


def request_id(event: Mapping[str, Any]) -> str | None:
    """Read the gateway's own id of a request, which is in its access log too; of an authorizer event as well."""
    return (event.get("requestContext") or {}).get("requestId")


def _authorizer(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give an authorizer's context: at the top in format 1.0, one level down in 2.0."""
    told = event.get("requestContext", {}).get("authorizer") or {}
    return told.get("lambda") or told.get("jwt") or told


def _path(event: Mapping[str, Any]) -> str:
    # A REST API leaves its stage out of `path`. Ours is the first part of /api/v1/lineage, and so has to be in it.
    asked: str = event["path"] if "version" in event else event.get("requestContext", {}).get("path", event["path"])
    return asked


def _body(event: Mapping[str, Any]) -> bytes:
    # Half a surrogate pair in the envelope's own JSON becomes bytes that are not UTF-8, and is refused as that later.
    body = (event.get("body") or "").encode("utf-8", "surrogatepass")
    if not event.get("isBase64Encoded"):
        return body
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error:
        return body  # not what the envelope says; judged as it is, it is no JSON
