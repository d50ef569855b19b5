"""The local gateway asks as API Gateway asks, and believes an answer for as long."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from local import resources
from local.authorizers import Authorizer, NotLetInError, UnknownAuthorizerError, authorizers
from local.gateway import Gateway, Route, guarded
from local.runtime import FunctionError
from local.server import Request
from local.system import PARAMETERS, TEMPLATE
from local.template import Template, read

YES = {"isAuthorized": True, "context": {"producer": "spark"}}
NO = {"isAuthorized": False}


@dataclass
class Function:
    """A function that says what it is to say."""

    says: Any
    asked: list[dict[str, Any]] = field(default_factory=list)

    def invoke(self, event: Any, patience: float | None = None) -> Any:  # noqa: ANN401 - a handler returns any JSON
        del patience
        self.asked.append(event)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def request(*authorization: str) -> Request:
    headers = (("Host", "x"), *(("Authorization", value) for value in authorization))
    return Request("POST", "/api/v1/lineage?a=1", headers, b"{}", "127.0.0.1")


def test_an_authorizer_is_asked_in_format_2_without_the_body() -> None:
    function = Function(YES)
    assert Authorizer(function.invoke, 60).context(request("Bearer x"), "POST /api/v1/lineage") == YES["context"]
    (asked,) = function.asked
    assert (asked["version"], asked["type"], asked["identitySource"]) == ("2.0", "REQUEST", ["Bearer x"])
    assert (asked["routeKey"], asked["rawPath"]) == ("POST /api/v1/lineage", "/api/v1/lineage")
    assert asked["headers"]["authorization"] == "Bearer x"
    assert "body" not in asked


def test_without_the_header_nobody_is_asked() -> None:
    function = Function(YES)
    for none in (request(), request("")):
        with pytest.raises(NotLetInError) as caught:
            Authorizer(function.invoke, 60).context(none, "$default")
        assert caught.value.status == 401
    assert function.asked == []


def test_two_headers_are_one_value() -> None:
    """As format 2.0 has it; a token of which there are two is none."""
    function = Function(YES)
    Authorizer(function.invoke, 60).context(request("Bearer x", "Bearer y"), "$default")
    assert function.asked[0]["identitySource"] == ["Bearer x,Bearer y"]


def test_an_answer_is_believed_for_its_time_by_the_header_s_value_yes_and_no_alike() -> None:
    function, clock = Function(NO), Clock()
    authorizer = Authorizer(function.invoke, 60, clock)
    for value in ("x", "y", "x"):
        with pytest.raises(NotLetInError) as caught:
            authorizer.context(request(value), "$default")
        assert caught.value.status == 403
    assert len(function.asked) == 2
    function.says, clock.now = YES, 59.9
    with pytest.raises(NotLetInError):
        authorizer.context(request("x"), "$default")
    clock.now = 60
    assert authorizer.context(request("x"), "POST /") == YES["context"]


def test_zero_seconds_ask_each_time() -> None:
    function = Function(YES)
    authorizer = Authorizer(function.invoke, 0, Clock())
    for _ in range(3):
        authorizer.context(request("x"), "$default")
    assert len(function.asked) == 3


@pytest.mark.parametrize("says", [None, "yes", {}, {"isAuthorized": "true"}, {"principalId": "x"}, FunctionError("x")])
def test_what_is_no_answer_is_the_gateway_s_500(says: object) -> None:
    guard = Authorizer(Function(says).invoke, 60)
    route = Route(Function({"statusCode": 200, "body": "{}"}), "1.0")
    gateway = Gateway(guarded({"$default": route}, {"$default": guard}))
    assert gateway(request("Bearer x")).status == 500


@pytest.mark.parametrize("payload_format", ["1.0", "2.0"])
def test_the_function_is_told_what_the_authorizer_said(payload_format: str) -> None:
    function = Function({"statusCode": 200, "body": "{}"})
    guard = Authorizer(Function(YES).invoke, 60)
    Gateway({"$default": Route(function, payload_format, guard)})(request("Bearer x"))
    told = function.asked[0]["requestContext"]["authorizer"]
    assert told == (YES["context"] if payload_format == "1.0" else {"lambda": YES["context"]})


@pytest.mark.parametrize("payload_format", ["1.0", "2.0"])
def test_a_request_is_called_the_same_before_authorizer_and_function(payload_format: str) -> None:
    function, asked = Function({"statusCode": 200, "body": "{}"}), Function(YES)
    gateway = Gateway({"$default": Route(function, payload_format, Authorizer(asked.invoke, 0))})
    for _ in range(2):
        gateway(request("Bearer x"))
    ids = [[event["requestContext"]["requestId"] for event in one.asked] for one in (function, asked)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2


def _template(**parameters: str) -> Template:
    given = {**PARAMETERS, **parameters}
    return resources.named(read(TEMPLATE, given, resources.PSEUDO_PARAMETERS), "http://127.0.0.1:4566")


def test_the_template_s_routes_have_its_authorizer_but_for_health() -> None:
    called = []

    def invoke(name: str) -> Any:  # noqa: ANN401 - what is called back is of no interest here
        called.append(name)
        return Function(YES).invoke

    found = authorizers(_template(Access="tokens", AuthorizerCacheSeconds="7"), invoke)
    assert called == ["AuthorizerFunction"]
    assert set(found) == {
        "POST /api/v1/lineage",
        "POST /api/v1/lineage/batch",
        "POST /lineage",
        "POST /",
        "$default",
    }
    assert {one.seconds for one in found.values()} == {7.0}


def test_an_open_template_has_none() -> None:
    assert authorizers(_template(Access="open"), lambda name: Function(name).invoke) == {}


def test_a_jwt_is_not_judged_here_and_that_is_said() -> None:
    jwt = _template(Access="jwt", JwtIssuer="https://login.example.com", JwtAudience="lineage")
    with pytest.raises(UnknownAuthorizerError, match="jwt"):
        authorizers(jwt, lambda name: Function(name).invoke)
