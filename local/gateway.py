"""The HTTP API: the template's routes to its functions, with the answers and limits of API Gateway.

Sources: Amazon API Gateway developer guide, "Routes for HTTP APIs", "Quotas for HTTP APIs".
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, replace
from threading import Thread
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

from local import proxy
from local.authorizers import NotLetInError
from local.runtime import FunctionError, InitError, NoSandboxError, PayloadTooLargeError
from local.server import Request, Response, json_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from local.authorizers import Authorizer
    from local.template import Function

MAX_BODY = 10 * 1024 * 1024
INTEGRATION_SECONDS = 30

DEFAULT_ROUTE = "$default"


class GatewayError(Exception):
    """The template asks for something of the HTTP API that is not there locally."""


class Invoker(Protocol):
    """What runs a function."""

    def invoke(self, event: object, patience: float | None = None) -> Any:  # noqa: ANN401 - a handler returns any JSON
        """Handle `event`; see local.runtime.Runtime."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests go, in which payload format ("1.0" or "2.0"), and who says whether they may."""

    function: Invoker
    payload_format: str
    authorizer: Authorizer | None = None


class Gateway:
    """An HTTP API on its $default stage."""

    def __init__(self, routes: Mapping[str, Route], *, seconds: float = INTEGRATION_SECONDS) -> None:
        """Send each request to `routes["<METHOD> <path>"]`, or `routes["ANY <path>"]`, or routes[DEFAULT_ROUTE].

        A function has `seconds` for its answer.
        """
        self._routes = routes
        self._seconds = seconds

    def __call__(self, request: Request) -> Response:
        """Answer one request."""
        path = unquote(request.path)
        keys = (f"{request.method} {path}", f"ANY {path}", DEFAULT_ROUTE)
        key = next((key for key in keys if key in self._routes), None)
        if key is None:
            return json_response(404, {"message": "Not Found"})
        route = self._routes[key]
        try:
            caller = route.authorizer.context(request, key) if route.authorizer else None
            event = proxy.event(request, key, route.payload_format, caller)
            # An invocation may outlive the gateway's patience.
            invocation = _begun(lambda: route.function.invoke(event, self._seconds))
            return proxy.response(invocation.result(self._seconds), route.payload_format)
        except NotLetInError as error:
            return json_response(error.status, {"message": error.message})
        except (TimeoutError, NoSandboxError):
            return json_response(503, {"message": "Service Unavailable"})
        except PayloadTooLargeError:
            return json_response(413, {"message": "Request Entity Too Large"})
        except (FunctionError, InitError, proxy.MalformedResultError):
            return json_response(500, {"message": "Internal Server Error"})


def routes(functions: Iterable[tuple[Function, Invoker]]) -> dict[str, Route]:
    """Read the routes of `functions` from their HttpApi events. Raises GatewayError for what there is not locally."""
    found = {}
    for function, invoker in functions:
        for event in function.events:
            if event.type == "HttpApi":
                key = _route_key(event.properties)
                found[key] = Route(invoker, str(event.properties.get("PayloadFormatVersion", "2.0")))
    return found


def guarded(routes: Mapping[str, Route], authorizers: Mapping[str, Authorizer]) -> dict[str, Route]:
    """Give `routes` with an authorizer in front of those that have one, by route key."""
    return {key: replace(route, authorizer=authorizers.get(key)) for key, route in routes.items()}


def _route_key(properties: Mapping[str, Any]) -> str:
    """SAM: an event without path and method is the default route; ANY is the default method."""
    path = properties.get("Path")
    if path is None:
        return DEFAULT_ROUTE
    if "{" in path:
        raise GatewayError(f"the path {path} has a parameter, which the local gateway does not know")
    return f"{properties.get('Method', 'ANY').upper()} {path}"


def _begun(call: Callable[[], Any]) -> Future[Any]:
    """Run `call` in a thread that nobody has to wait for."""
    future: Future[Any] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001 - raised where the result is asked for
            future.set_exception(error)

    Thread(target=run, daemon=True).start()
    return future
