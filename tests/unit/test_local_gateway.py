"""The local gateway speaks API Gateway's payload formats and answers with its statuses."""

from __future__ import annotations

import base64
import gzip
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from adapter.doors import gateway as door
from local.gateway import DEFAULT_ROUTE, Gateway, GatewayError, Route, routes
from local.runtime import FunctionError, InitError, NoSandboxError, PayloadTooLargeError
from local.server import Request
from local.template import EventSource, Function

HEADERS = (("Host", "127.0.0.1:8080"), ("Content-Type", "application/json"), ("X-Twice", "a"), ("X-Twice", "b"))


def request(
    body: bytes = b"{}", target: str = "/lineage", method: str = "POST", headers: tuple[tuple[str, str], ...] = HEADERS
) -> Request:
    return Request(method, target, headers, body, "127.0.0.9")


@dataclass
class Fake:
    """A function that remembers what it was given."""

    result: object = None
    error: Exception | None = None
    given: list[Any] = field(default_factory=list)

    def invoke(self, event: object, patience: float | None = None) -> object:
        assert patience
        self.given.append(event)
        if self.error:
            raise self.error
        return self.result


def through(function: Fake, asked: Request, payload_format: str = "1.0") -> Any:  # noqa: ANN401 - any JSON
    """Send `asked` through a gateway; give the event that came out."""
    Gateway({DEFAULT_ROUTE: Route(function, payload_format)})(asked)
    return function.given[-1]


@pytest.mark.parametrize("payload_format", ["1.0", "2.0"])
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ((("Content-Type", "application/json"),), '{"ä": 1}'.encode()),
        ((("Content-Type", "application/json; charset=utf-8"),), b"\xff\xfe"),
        ((("Content-Type", "application/json"), ("Content-Encoding", "gzip")), gzip.compress(b"{}", mtime=0)),
        ((("Content-Type", "application/octet-stream"),), b"plain"),
        ((), b"no type"),
        ((("Content-Type", "application/vnd.api+json"),), b"{}"),
        ((("Content-Type", "text/plain"),), b""),
    ],
)
def test_the_door_gets_the_exact_bytes(payload_format: str, headers: tuple[tuple[str, str], ...], body: bytes) -> None:
    """Whatever the gateway makes of a body, the adapter's door reads it back."""
    event = through(Fake(), request(body, headers=headers), payload_format)
    opened = door.request(event)
    assert opened.body == body
    assert (opened.method, opened.path) == ("POST", "/lineage")
    assert opened.content_encoding == dict(headers).get("Content-Encoding", "")


@pytest.mark.parametrize(
    ("content_type", "body", "encoded"),
    [
        ("application/json", b"{}", False),
        ("Text/Plain", b"x", False),
        ("application/json", b"\xff", True),
        ("application/x-protobuf", b"x", True),
    ],
)
def test_what_is_not_text_comes_in_base64(content_type: str, body: bytes, encoded: bool) -> None:  # noqa: FBT001 - a table
    event = through(Fake(), request(body, headers=(("Content-Type", content_type),)))
    assert event["isBase64Encoded"] is encoded
    assert event["body"] == (base64.b64encode(body).decode() if encoded else body.decode())


def test_payload_format_1_has_what_is_documented() -> None:
    event = through(Fake(), request(b"", "/lineage?a=1&a=2&b="))
    assert (event["version"], event["httpMethod"], event["path"]) == ("1.0", "POST", "/lineage")
    assert event["headers"]["X-Twice"] == "b"
    assert event["multiValueHeaders"]["X-Twice"] == ["a", "b"]
    assert event["queryStringParameters"] == {"a": "2", "b": ""}
    assert event["multiValueQueryStringParameters"] == {"a": ["1", "2"], "b": [""]}
    assert event["headers"]["X-Forwarded-For"] == "127.0.0.9"
    assert event["body"] is None
    context = event["requestContext"]
    assert (context["stage"], context["identity"]["sourceIp"], context["path"]) == ("$default", "127.0.0.9", "/lineage")


def test_payload_format_2_has_what_is_documented() -> None:
    headers = (*HEADERS, ("Cookie", "one=1; two=2"))
    event = through(Fake(), request(b"{}", "/lineage?a=1&a=2", headers=headers), "2.0")
    assert (event["version"], event["rawPath"], event["rawQueryString"]) == ("2.0", "/lineage", "a=1&a=2")
    assert event["headers"]["x-twice"] == "a,b"
    assert event["cookies"] == ["one=1", "two=2"]
    assert event["queryStringParameters"] == {"a": "1,2"}
    assert event["requestContext"]["http"]["method"] == "POST"
    assert event["requestContext"]["stage"] == "$default"
    assert "body" not in through(Fake(), request(b""), "2.0")


def test_a_result_becomes_the_response() -> None:
    result = {
        "statusCode": 202,
        "headers": {"Content-Type": "application/json", "X": "1"},
        "multiValueHeaders": {"X": ["2", "3"]},
        "body": base64.b64encode(b"\xff").decode(),
        "isBase64Encoded": True,
    }
    response = Gateway({DEFAULT_ROUTE: Route(Fake(result), "1.0")})(request())
    assert (response.status, response.body) == (202, b"\xff")
    assert response.headers == [("Content-Type", "application/json"), ("X", "2"), ("X", "3")]


def test_a_result_of_format_2_may_be_just_a_body_and_may_have_cookies() -> None:
    response = Gateway({DEFAULT_ROUTE: Route(Fake({"ok": True}), "2.0")})(request())
    assert (response.status, response.body) == (200, b'{"ok": true}')
    baked = Gateway({DEFAULT_ROUTE: Route(Fake({"statusCode": 204, "cookies": ["a=1"]}), "2.0")})(request())
    assert ("Set-Cookie", "a=1") in baked.headers


@pytest.mark.parametrize(
    ("function", "status", "message"),
    [
        (Fake(error=FunctionError("x")), 500, "Internal Server Error"),
        (Fake(error=InitError("x")), 500, "Internal Server Error"),
        (Fake(result="no response"), 500, "Internal Server Error"),
        (Fake(result={"statusCode": "many"}), 500, "Internal Server Error"),
        (Fake(result={"statusCode": 200, "isBase64Encoded": True, "body": "?"}), 500, "Internal Server Error"),
        (Fake(error=NoSandboxError("x")), 503, "Service Unavailable"),
        (Fake(error=PayloadTooLargeError("x")), 413, "Request Entity Too Large"),
    ],
)
def test_failures_have_the_gateway_s_own_answers(function: Fake, status: int, message: str) -> None:
    response = Gateway({DEFAULT_ROUTE: Route(function, "1.0")})(request())
    assert (response.status, response.body) == (status, b'{"message": "%s"}' % message.encode())


def test_a_function_that_takes_too_long_is_unavailable() -> None:
    hold = threading.Event()

    class Slow:
        def invoke(self, event: object, patience: float | None = None) -> object:
            del event, patience
            return hold.wait(10)

    response = Gateway({DEFAULT_ROUTE: Route(Slow(), "1.0")}, seconds=0.05)(request())
    hold.set()
    assert (response.status, response.body) == (503, b'{"message": "Service Unavailable"}')


def _function(*events: EventSource) -> Function:
    return Function("Door", "door", "a.b", 3, 128, {}, events)


def test_routes_are_the_template_s_and_the_most_specific_one_wins() -> None:
    exact, anything, other = Fake(), Fake(), Fake()
    table = routes(
        [
            (
                _function(EventSource("E", "HttpApi", {"Path": "/x", "Method": "post", "PayloadFormatVersion": "1.0"})),
                exact,
            ),
            (_function(EventSource("A", "HttpApi", {"Path": "/x"})), anything),
            (_function(EventSource("O", "HttpApi", {}), EventSource("Q", "SQS", {"Queue": "arn"})), other),
        ]
    )
    gateway = Gateway(table)
    for method, target in (("POST", "/x?y"), ("GET", "/x"), ("POST", "/x/"), ("GET", "/%2e")):
        gateway(request(b"", target, method))
    assert [event["version"] for event in exact.given] == ["1.0"]
    assert [event["routeKey"] for event in anything.given] == ["ANY /x"]
    assert [event["rawPath"] for event in other.given] == ["/x/", "/."]


def test_without_a_route_there_is_nothing() -> None:
    assert Gateway({})(request()).status == 404


def test_a_path_with_parameters_is_an_error_at_the_start() -> None:
    with pytest.raises(GatewayError, match=r"/x/\{id\}"):
        routes([(_function(EventSource("E", "HttpApi", {"Path": "/x/{id}", "Method": "GET"})), Fake())])
