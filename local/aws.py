"""AWS on one port: moto, the DataZone and the stack it lacks, and faults around all of them."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.test import run_wsgi_app

from local import cloudformation
from local.cloudformation import CLOUDFORMATION
from local.datazone import wire
from local.faults import DATAZONE, Faults
from local.functions import LAMBDA
from local.server import HOST, Request, Response, Server

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from flask import Flask

    from local.cloudformation import Stack
    from local.functions import Functions

MAX_BODY = 128 * 1024 * 1024

_SIGNED_FOR = re.compile(r"Credential=[^/,]+/\d+/[^/,]+/([^/,]+)/aws4_request")
_FAULTS_PATH = "/_faults"

# moto finds out anew for each request which service is meant, at half the cost of answering it. For these the name in
# the signature is all there is to find out.
_PLAIN = frozenset({"kinesis", "sqs"})

# moto's streams and queues lose records when two requests change them at the same moment.
_ONE_AT_A_TIME = frozenset({"kinesis", "sqs"})
# Except for this one where it waits, for up to twenty seconds. Where it does not, it moves messages to the dead letters
# and has its turn like the others.
_RECEIVE = "AmazonSQS.ReceiveMessage"


class Aws:
    """The services, at a port of this machine. What they hold is gone when the process ends."""

    def __init__(self, port: int) -> None:
        """Listen on `port`, or any free one for 0. Raises PortTakenError. Nothing is answered before `server.start`.

        `stack` and `functions` are what CloudFormation and Lambda tell of, once they are set.
        """
        self._faults = Faults()
        self._moto = _Moto(create_backend_app)
        self._locks = {service: Lock() for service in _ONE_AT_A_TIME}
        self.stack: Stack | None = None
        self.functions: Functions | None = None
        self.server = Server(port, self._answer, MAX_BODY)

    def _answer(self, request: Request) -> Response:
        if request.path == _FAULTS_PATH:
            return self._faults.manage(request)
        service = _service(request)
        return self._faults.around(service, request, lambda asked: self._serve(service, asked))

    def _serve(self, service: str, request: Request) -> Response:
        if service == DATAZONE:
            return _datazone(request)
        if service == CLOUDFORMATION:
            return cloudformation.answer(request, self.stack)
        if service == LAMBDA and self.functions:
            return self.functions.answer(request)
        with self._turn(service, request):
            body, status, headers = run_wsgi_app(self._moto, _environ(service, request), buffered=True)
            return Response(int(status.split()[0]), list(headers), b"".join(body))

    def _turn(self, service: str, request: Request) -> AbstractContextManager[object]:
        free = service not in _ONE_AT_A_TIME or _waits(request)
        return nullcontext() if free else self._locks[service]


def _waits(request: Request) -> bool:
    return request.header("x-amz-target") == _RECEIVE and bool(json.loads(request.body).get("WaitTimeSeconds"))


def _datazone(request: Request) -> Response:
    headers = {name.lower(): value for name, value in request.headers}
    status, about, body = wire.answer(request.method, request.path, request.query, headers, request.body)
    return Response(status, list(about.items()), body)


class _Moto(DomainDispatcherApplication):
    """moto's server, told which service is meant."""

    def get_application(self, environ: dict[str, Any]) -> Flask:
        service = environ["local.service"]
        if service not in _PLAIN:
            return super().get_application(environ)
        with self.lock:
            if service not in self.app_instances:
                self.app_instances[service] = self.create_app(service)
            return self.app_instances[service]


def _service(request: Request) -> str:
    """Name the service a request is for, by its signature; an empty string leaves it to moto."""
    if signed := _SIGNED_FOR.search(request.header("Authorization")):
        return signed[1].lower()
    # DataZone says itself what it thinks of requests that are not signed.
    return DATAZONE if request.path.startswith("/v2/domains/") else ""


def _environ(service: str, request: Request) -> dict[str, Any]:
    """Put `request` into the words of WSGI (PEP 3333), with what moto's own server adds to them."""
    environ: dict[str, Any] = {
        "local.service": service,
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(request.path, "latin-1"),
        "QUERY_STRING": request.query,
        "RAW_URI": request.target,
        "REQUEST_URI": request.target,
        "REMOTE_ADDR": request.client,
        "SERVER_NAME": HOST,
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers:
        key = name.upper().replace("-", "_")
        environ[f"HTTP_{key}"] = value
    environ["CONTENT_TYPE"] = environ.pop("HTTP_CONTENT_TYPE", "")
    environ["CONTENT_LENGTH"] = str(len(request.body))
    # The body is whole by now.
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return environ
