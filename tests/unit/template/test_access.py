"""Who may post is asked on every way in, or, where it is said so, on none."""

from __future__ import annotations

from typing import Any

import pytest

from adapter.doors.http import BATCH_PATH, EVENT_PATHS
from tests.unit.template.deployed import broken, given

JWT = {
    "Access": "jwt",
    "JwtIssuer": "https://login.example.com/pool",
    "JwtAudience": "lineage,lineage-test",
}


def routes(**parameters: str) -> dict[tuple[str, str], Any]:
    paths = given(**parameters)["HttpApi"]["Properties"]["Body"]["paths"]
    return {(method, path): route for path, methods in paths.items() for method, route in methods.items()}


def test_whoever_is_asked_for_a_token_is_asked_on_every_route_but_health() -> None:
    """On $default too: the door takes a path with a slash at its end, and to the gateway that is another path."""
    asked = {key for key, route in routes(**JWT).items() if route.get("security") == [{"jwt": []}]}
    posts = {("post", path) for path in (*EVENT_PATHS, BATCH_PATH)}
    assert asked == posts | {("x-amazon-apigateway-any-method", "$default")}
    assert {path for _, path in routes(**JWT).keys() - asked} == {"/health"}


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
