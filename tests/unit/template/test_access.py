"""Who may post is asked on every way in, or, where it is said so, on none."""

from __future__ import annotations

from typing import Any

import pytest

from adapter import producers
from adapter.doors.http import BATCH_PATH, EVENT_PATHS
from adapter.secret import FRESH_SECONDS
from tests.unit.template.deployed import JWT, PARAMETERS, broken, get_att, given


def routes(**parameters: str) -> dict[tuple[str, str], Any]:
    paths = given(**parameters)["HttpApi"]["Properties"]["Body"]["paths"]
    return {(method, path): route for path, methods in paths.items() for method, route in methods.items()}


@pytest.mark.parametrize(("access", "scheme"), [("tokens", "tokens"), ("jwt", "jwt")])
def test_whoever_is_asked_for_a_token_is_asked_on_every_route_but_health(access: str, scheme: str) -> None:
    """On $default too: the door takes a path with a slash at its end, and to the gateway that is another path."""
    all_of_them = routes(**(JWT | {"Access": access}))
    asked = {key for key, route in all_of_them.items() if route.get("security") == [{scheme: []}]}
    posts = {("post", path) for path in (*EVENT_PATHS, BATCH_PATH)}
    assert asked == posts | {("x-amazon-apigateway-any-method", "$default")}
    assert {path for _, path in all_of_them.keys() - asked} == {"/health"}


def test_a_deployment_that_nobody_has_configured_admits_nobody() -> None:
    """It asks for tokens, and its secret knows of no producer."""
    assert PARAMETERS["Access"]["Default"] == "tokens"
    assert producers.load(given()["Producers"]["Properties"]["SecretString"]) == {}


def test_stack_updates_leave_the_producers_alone() -> None:
    """CloudFormation puts a new value in when its text in the template changes: this one is for ever."""
    assert given()["Producers"]["Properties"]["SecretString"] == '{"producers": {}}'
    assert all(given(**(JWT | {"Access": access}))["Producers"] for access in ("tokens", "jwt", "open"))


def test_the_gateway_asks_our_authorizer_in_format_2_and_keeps_its_answers_by_the_token() -> None:
    resources = given()
    scheme = resources["HttpApi"]["Properties"]["Body"]["components"]["securitySchemes"]["tokens"]
    authorizer = scheme["x-amazon-apigateway-authorizer"]
    assert authorizer["authorizerUri"]["Fn::Sub"].strip().endswith("/functions/${AuthorizerFunction.Arn}/invocations")
    assert authorizer["identitySource"] == "$request.header.Authorization"
    assert (authorizer["authorizerPayloadFormatVersion"], authorizer["enableSimpleResponses"]) == ("2.0", True)
    assert authorizer["authorizerResultTtlInSeconds"] == {"Ref": "AuthorizerCacheSeconds"}
    permission = resources["AuthorizerPermission"]["Properties"]
    assert permission["FunctionName"] in ({"Ref": "AuthorizerFunction"}, get_att("AuthorizerFunction"))
    assert permission["SourceArn"]["Fn::Sub"].endswith(":${HttpApi}/authorizers/*")


def test_a_revoked_token_is_good_for_two_minutes_at_most() -> None:
    """What the gateway believes and what the function does, one after the other."""
    assert PARAMETERS["AuthorizerCacheSeconds"]["Default"] + FRESH_SECONDS <= 120


def test_the_gateway_itself_judges_a_jwt() -> None:
    (scheme,) = given(**JWT)["HttpApi"]["Properties"]["Body"]["components"]["securitySchemes"].values()
    authorizer = scheme["x-amazon-apigateway-authorizer"]
    assert (authorizer["type"], authorizer["identitySource"]) == ("jwt", "$request.header.Authorization")
    assert authorizer["jwtConfiguration"] == {
        "issuer": {"Ref": "JwtIssuer"},
        "audience": {"Fn::Split": [",", {"Ref": "JwtAudience"}]},
    }


def test_an_open_deployment_asks_nobody_and_has_no_authorizer() -> None:
    assert not any("security" in route for route in routes(Access="open").values())
    body = given(Access="open")["HttpApi"]["Properties"]["Body"]
    assert body["components"]["securitySchemes"] == {}


@pytest.mark.parametrize("missing", ["JwtIssuer", "JwtAudience"])
def test_a_jwt_without_issuer_or_audience_is_refused_before_anything_is_made(missing: str) -> None:
    assert broken(**JWT) == []
    assert broken(**{**JWT, missing: ""}) == ["JwtIsComplete"]
