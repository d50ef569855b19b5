"""Bad days on demand: what an AWS service does instead of its work, set over HTTP.

    PUT /_faults {"service": "sqs", "rate": 0.3, "status": 503}    GET shows them    DELETE clears them

PUT replaces the faults of one service, datazone if none is named, and leaves those of the others. The keys are the
fields of Fault.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING

from local.datazone.wire import FAILS_HEADER
from local.server import HangUp, Request, Response, json_response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DATAZONE = "datazone"

# What a service calls a status when the fault does not say; the names are those of DataZone's service model.
_CODES = {
    400: "ValidationException",
    401: "UnauthorizedException",
    402: "ServiceQuotaExceededException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    409: "ConflictException",
    429: "ThrottlingException",
    500: "InternalServerException",
}
_OTHER_CODE = "ServiceUnavailable"

# Services that answer in XML (AWS query protocol).
_QUERY = frozenset({"cloudformation", "iam", "sns", "sts"})


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong with a service. Shares (`rate`, `drop`, …) are of requests, from 0 to 1.

    `status` is answered to the share `rate`, under the error code `code` and with the wish of `retry_after_ms`, if it
    has them. `latency_ms` delays every answer. `drop` hangs up before anything is done, `drop_after_accept` when
    everything is. `domain_missing` and `processing_fails`, the share of posted events that end as FAILED, are
    DataZone's.
    """

    status: int | None = None
    rate: float = 1.0
    code: str | None = None
    retry_after_ms: int | None = None
    latency_ms: int = 0
    drop: float = 0.0
    drop_after_accept: float = 0.0
    domain_missing: bool = False
    processing_fails: float = 0.0


class BadFaultError(Exception):
    """What was put is not a fault; the message says why."""


class Faults:
    """The faults of all services. Safe to share among threads."""

    def __init__(self) -> None:
        """Begin with none."""
        self._faults: dict[str, Fault] = {}

    def manage(self, request: Request) -> Response:
        """Answer a request to /_faults."""
        match request.method:
            case "GET":
                pass
            case "PUT":
                try:
                    service, fault = parse(request.body)
                except BadFaultError as error:
                    return json_response(400, {"message": str(error)})
                self._faults = {**self._faults, service: fault}
            case "DELETE":
                self._faults = {}
            case _:
                return json_response(405, {"message": "GET, PUT or DELETE"})
        return json_response(200, {service: asdict(fault) for service, fault in self._faults.items()})

    def around(self, service: str, request: Request, serve: Callable[[Request], Response]) -> Response:
        """Answer `request` to `service` with `serve`, or as its fault has it. Raises HangUp."""
        fault = self._faults.get(service)
        if fault is None:
            return serve(request)
        time.sleep(fault.latency_ms / 1000)
        if _hit(fault.drop):
            raise HangUp
        if service == DATAZONE and fault.domain_missing:
            return _error(service, 404, replace(fault, code=None))
        if fault.status and _hit(fault.rate):
            return _error(service, fault.status, fault)
        if _hit(fault.processing_fails):
            request = replace(request, headers=(*request.headers, (FAILS_HEADER, "1")))
        response = serve(request)
        if _hit(fault.drop_after_accept):
            raise HangUp
        return response


def parse(body: bytes) -> tuple[str, Fault]:
    """Read what is put to /_faults: the service and its fault. Raises BadFaultError."""
    try:
        told = json.loads(body)
    except ValueError as error:
        raise BadFaultError("a fault is a JSON object") from error
    if not isinstance(told, dict):
        raise BadFaultError("a fault is a JSON object")
    service = told.pop("service", DATAZONE)
    names = {field.name for field in fields(Fault)}
    if unknown := told.keys() - names:
        raise BadFaultError(f"no such key: {', '.join(sorted(unknown))}; there are service, {', '.join(sorted(names))}")
    if wrong := sorted(name for name, value in told.items() if not _RULES[name](value)):
        raise BadFaultError(f"wrong value: {', '.join(wrong)}")
    if "rate" in told and "status" not in told:
        raise BadFaultError("a rate needs a status")
    return service, Fault(**told)


def _whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _share(value: object) -> bool:
    return type(value) in (int, float) and 0 <= float(str(value)) <= 1


_RULES: Mapping[str, Callable[[object], bool]] = {
    "status": lambda value: type(value) is int and 400 <= value <= 599,  # noqa: PLR2004 - the statuses of errors
    "rate": _share,
    "code": lambda value: isinstance(value, str),
    "retry_after_ms": _whole,
    "latency_ms": _whole,
    "drop": _share,
    "drop_after_accept": _share,
    "domain_missing": lambda value: isinstance(value, bool),
    "processing_fails": _share,
}


def _hit(share: float) -> bool:
    return random.random() < share  # noqa: S311 - chance, not a secret


def _error(service: str, status: int, fault: Fault) -> Response:
    code = fault.code or _CODES.get(status, _OTHER_CODE)
    headers = [] if fault.retry_after_ms is None else [("x-amz-retry-after", str(fault.retry_after_ms))]
    told = f"<Error><Code>{code}</Code><Message>as asked for</Message></Error>"
    if service == "s3":
        return Response(status, [("Content-Type", "application/xml"), *headers], told.encode())
    if service in _QUERY:
        told = f"<ErrorResponse>{told}</ErrorResponse>"
        return Response(status, [("Content-Type", "text/xml"), *headers], told.encode())
    error = json_response(status, {"__type": code, "message": "as asked for"})
    return replace(error, headers=[*error.headers, ("x-amzn-errortype", code), *headers])
