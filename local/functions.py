"""Lambda's own API as far as commands look at what runs: functions and event source mappings are described, no more.

moto has one, but a function of its own, in Docker. Wire: botocore's service model of Lambda (REST-JSON).
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local import mapping, sqs
from local.account import ACCOUNT, REGION
from local.server import Response, json_response

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from local.server import Request
    from local.template import EventSource, Function

LAMBDA = "lambda"

_PATH = re.compile(
    r"/2015-03-31/functions/(?P<configuration>[^/]+)/configuration"
    r"|/2019-09-30/functions/(?P<concurrency>[^/]+)/concurrency"
    r"|/2015-03-31/event-source-mappings/(?P<mapping>[^/]+)"
)


@dataclass(frozen=True, slots=True)
class Source:
    """What a poller reads for a function. `logical_id` is the name that SAM gives it in the template it makes."""

    logical_id: str
    uuid: str
    arn: str
    function: str


def sources(functions: Iterable[Function]) -> Iterator[Source]:
    """Give those of the functions' events that are polled."""
    for function in functions:
        for event in function.events:
            if arn := _arn(event):
                logical_id = f"{function.logical_id}{event.name}"
                yield Source(logical_id, str(uuid.uuid5(uuid.NAMESPACE_OID, logical_id)), arn, function.name)


def _arn(event: EventSource) -> str | None:
    match event.type:
        case "Kinesis":
            return mapping.mapping(event).stream_arn
        case "SQS":
            return sqs.mapping(event).queue_arn
        case _:
            return None


class Functions:
    """The functions that run here, all of them ready, and what they are given to read."""

    def __init__(self, functions: Iterable[Function]) -> None:
        """Know these."""
        self._functions = {function.name: function for function in functions}
        self._sources = {source.uuid: source for source in sources(self._functions.values())}

    def answer(self, request: Request) -> Response:
        """Answer a request."""
        asked = _PATH.fullmatch(request.path) if request.method == "GET" else None
        if asked and asked["configuration"] in self._functions:
            return json_response(200, _configuration(self._functions[asked["configuration"]]))
        if asked and asked["concurrency"] in self._functions:
            return json_response(200, {})  # none is reserved
        if asked and asked["mapping"] in self._sources:
            return json_response(200, _mapping(self._sources[asked["mapping"]]))
        about = [("Content-Type", "application/json"), ("x-amzn-errortype", "ResourceNotFoundException")]
        return Response(404, about, b'{"Type": "User", "Message": "there is no such thing here"}')


def _configuration(function: Function) -> dict[str, Any]:
    return {
        "FunctionName": function.name,
        "FunctionArn": _function_arn(function.name),
        "Handler": function.handler,
        "Timeout": function.timeout,
        "MemorySize": function.memory,
        "State": "Active",
        "LastUpdateStatus": "Successful",
    }


def _mapping(source: Source) -> dict[str, Any]:
    return {
        "UUID": source.uuid,
        "EventSourceArn": source.arn,
        "FunctionArn": _function_arn(source.function),
        "State": "Enabled",
    }


def _function_arn(name: str) -> str:
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"
