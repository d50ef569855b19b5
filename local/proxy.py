"""API Gateway's envelopes: a request as a proxy event in either payload format, a proxy result as a response.

Source: Amazon API Gateway developer guide, "AWS Lambda proxy integrations for HTTP APIs". That a body which is not text
comes in base64 is documented; which media types are text is not, and decided here.
"""

from __future__ import annotations

import base64
import re
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from local.account import ACCOUNT, REGION
from local.server import Request, Response, json_response

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_API_ID = "local"
_TEXT = re.compile(r"text/.*|application/(.+\+)?(json|javascript|xml)")


class MalformedResultError(Exception):
    """The function returned something that is no response."""


def event(request: Request, route: str, payload_format: str, caller: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Put a request that came by `route` into payload format "1.0" or "2.0".

    `caller` is the context that a Lambda authorizer has given, None where there is no authorizer.
    """
    put = _event_2(request, route) if payload_format == "2.0" else _event_1(request, route)
    if caller is not None:
        put["requestContext"]["authorizer"] = {"lambda": caller} if payload_format == "2.0" else caller
    return put


def authorizer_event(request: Request, route: str) -> dict[str, Any]:
    """Put a request into what a Lambda authorizer is asked in format 2.0: everything but its body."""
    put = _event_2(request, route)
    arn = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{_API_ID}/$default/{request.method}{put['rawPath']}"
    asked = {"type": "REQUEST", "routeArn": arn, "identitySource": [put["headers"].get("authorization", "")]}
    return {name: value for name, value in put.items() if name not in {"body", "isBase64Encoded"}} | asked


def _event_1(request: Request, route: str) -> dict[str, Any]:
    """Put a request into payload format 1.0."""
    query = _grouped(parse_qsl(request.query, keep_blank_values=True))
    headers = _grouped(_forwarded(request))
    path, resource = unquote(request.path), route.rpartition(" ")[2]
    body, encoded = _body(request)
    return {
        "version": "1.0",
        "resource": resource,
        "path": path,
        "httpMethod": request.method,
        "headers": {name: values[-1] for name, values in headers.items()},
        "multiValueHeaders": headers,
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "requestContext": _context(request)
        | {
            "extendedRequestId": str(uuid.uuid4()),
            "httpMethod": request.method,
            "identity": {"sourceIp": request.client, "userAgent": request.header("User-Agent")},
            "path": path,
            "protocol": "HTTP/1.1",
            "requestTime": _clock(),
            "requestTimeEpoch": int(time.time() * 1000),
            "resourceId": None,
            "resourcePath": resource,
        },
        "pathParameters": None,
        "stageVariables": None,
        "body": body,
        "isBase64Encoded": encoded,
    }


def _event_2(request: Request, route: str) -> dict[str, Any]:
    """Put a request into payload format 2.0: no multi-values, cookies apart, no body where there is none."""
    headers = _grouped((name.lower(), value) for name, value in _forwarded(request))
    cookies = [cookie.strip() for value in headers.pop("cookie", []) for cookie in value.split(";")]
    query = _grouped(parse_qsl(request.query, keep_blank_values=True))
    path = unquote(request.path)
    body, encoded = _body(request)
    always: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": request.query,
        "headers": {name: ",".join(values) for name, values in headers.items()},
        "requestContext": _context(request)
        | {
            "http": {
                "method": request.method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": request.client,
                "userAgent": request.header("User-Agent"),
            },
            "routeKey": route,
            "time": _clock(),
            "timeEpoch": int(time.time() * 1000),
        },
        "isBase64Encoded": encoded,
    }
    optional = {
        "cookies": cookies,
        "queryStringParameters": {name: ",".join(values) for name, values in query.items()},
        "body": body,
    }
    return always | {name: value for name, value in optional.items() if value}


def response(result: Any, payload_format: str) -> Response:  # noqa: ANN401 - a handler returns any JSON
    """Make a response of what the function returned. Raises MalformedResultError."""
    if payload_format == "2.0" and not (isinstance(result, dict) and "statusCode" in result):
        return json_response(200, result)
    try:
        body = result.get("body") or ""
        raw = base64.b64decode(body, validate=True) if result.get("isBase64Encoded") else body.encode()
        return Response(int(result["statusCode"]), _result_headers(result, payload_format), raw)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedResultError from error


def _result_headers(result: Mapping[str, Any], payload_format: str) -> list[tuple[str, str]]:
    headers = [(name, str(value)) for name, value in (result.get("headers") or {}).items()]
    if payload_format == "2.0":
        headers += [("Set-Cookie", cookie) for cookie in result.get("cookies") or []]
    else:
        several = result.get("multiValueHeaders") or {}
        headers = [(name, value) for name, value in headers if name not in several]
        headers += [(name, str(value)) for name, values in several.items() for value in values]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "text/plain;charset=UTF-8"))
    return headers


def _body(request: Request) -> tuple[str | None, bool]:
    """Give the body as an event holds it, and whether in base64."""
    if not request.body:
        return None, False
    media_type = request.header("Content-Type").partition(";")[0].strip().lower()
    if _TEXT.fullmatch(media_type) and not request.header("Content-Encoding"):
        try:
            return request.body.decode("utf-8"), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(request.body).decode(), True


def _forwarded(request: Request) -> list[tuple[str, str]]:
    """Add what API Gateway adds to the headers, and leave out what is about the connection only."""
    own = [(name, value) for name, value in request.headers if name.lower() not in {"connection", "transfer-encoding"}]
    port = request.header("Host").rpartition(":")[2]
    return [*own, ("X-Forwarded-For", request.client), ("X-Forwarded-Port", port), ("X-Forwarded-Proto", "http")]


def _context(request: Request) -> dict[str, Any]:
    return {
        "accountId": ACCOUNT,
        "apiId": _API_ID,
        "domainName": request.header("Host"),
        "domainPrefix": _API_ID,
        "requestId": request.request_id,
        "stage": "$default",
    }


def _clock() -> str:
    return datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped
