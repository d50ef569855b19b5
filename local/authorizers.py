"""Who may come in, asked as API Gateway asks: the template's Lambda authorizers in front of its routes.

Source: Amazon API Gateway developer guide, "Control access to HTTP APIs with AWS Lambda authorizers" (format 2.0,
simple responses, results kept by the identity source's value).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local import proxy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.server import Request
    from local.template import Template

# Amazon API Gateway developer guide, "Quotas for configuring and running an HTTP API": the longest an authorizer takes.
AUTHORIZER_SECONDS = 10

_API = "AWS::Serverless::HttpApi"
_ANY = "x-amazon-apigateway-any-method"
_DETAILS = "x-amazon-apigateway-authorizer"
_HEADER = "$request.header.Authorization"


class UnknownAuthorizerError(Exception):
    """The template asks for an authorizer that is not there locally."""


class NotLetInError(Exception):
    """The gateway answers for itself, with `status` and `message`."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Asks `ask`, a function, and keeps what it says for `seconds`, yes and no alike, by the header's value."""

    ask: Callable[[dict[str, Any], float], Any]
    seconds: float
    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, tuple[float, Any]] = field(default_factory=dict)

    def context(self, request: Request, route: str) -> dict[str, Any]:
        """Give the function's context about who sent `request`; raise NotLetInError, and what `ask` raises."""
        asked = proxy.authorizer_event(request, route)
        said = self._said(asked["identitySource"][0], asked)
        if not isinstance(said, dict) or not isinstance(said.get("isAuthorized"), bool):
            raise NotLetInError(500, "Internal Server Error")
        if not said["isAuthorized"]:
            raise NotLetInError(403, "Forbidden")
        return dict(said.get("context") or {})

    def _said(self, header: str, asked: dict[str, Any]) -> Any:  # noqa: ANN401 - a handler returns any JSON
        if not header:
            raise NotLetInError(401, "Unauthorized")
        until, said = self._kept.get(header, (0.0, None))
        if self.clock() >= until:
            said = self.ask(asked, AUTHORIZER_SECONDS)
            self._kept[header] = self.clock() + self.seconds, said
        return said


def authorizers(template: Template, invoke: Callable[[str], Callable[..., Any]]) -> dict[str, Authorizer]:
    """Read which routes of the template's HTTP API have an authorizer, by route key.

    `invoke` gives what invokes a function, by the function's logical id. Raises UnknownAuthorizerError.
    """
    found: dict[str, Authorizer] = {}
    for name, properties in template.resources(_API).items():
        body = template.resolve(properties.get("DefinitionBody", {}), f"{name}.DefinitionBody")
        known = {
            scheme: _authorizer(scheme, said[_DETAILS], template, invoke)
            for scheme, said in body.get("components", {}).get("securitySchemes", {}).items()
        }
        for path, methods in body.get("paths", {}).items():
            for method, said in methods.items():
                found |= {_key(method, path): known[scheme] for one in said.get("security", ()) for scheme in one}
    return found


def _authorizer(
    name: str, said: Mapping[str, Any], template: Template, invoke: Callable[[str], Callable[..., Any]]
) -> Authorizer:
    simple = (said.get("authorizerPayloadFormatVersion"), said.get("enableSimpleResponses")) == ("2.0", True)
    if said["type"] != "request" or not simple or said["identitySource"] != _HEADER:
        raise UnknownAuthorizerError(f"the API's authorizer {name} is of a kind that the local gateway does not know")
    arns = {one.attributes.get("Arn", "?"): logical_id for logical_id, one in template.physical.items()}
    function = next(logical_id for arn, logical_id in arns.items() if f"/{arn}/" in said["authorizerUri"])
    return Authorizer(invoke(function), float(said["authorizerResultTtlInSeconds"]))


def _key(method: str, path: str) -> str:
    if path == "$default":
        return path
    return f"{'ANY' if method == _ANY else method.upper()} {path}"
