"""HTTP/1.1 on the standard library: whole requests in, whole responses out, the bytes of neither touched.

Keeps connections alive and takes chunked bodies, which the wsgiref and werkzeug servers do not do together.
"""

from __future__ import annotations

import errno
import json
import sys
import traceback
import uuid
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, cast

from werkzeug.serving import DechunkedInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import IO

HOST = "127.0.0.1"

_PIECE = 64 * 1024
# Of a body that is too large this much more is read, so that the client is there to hear so.
_PATIENCE = 64 * 1024 * 1024


class PortTakenError(Exception):
    """There is no listening on that port: somebody else does, or only root may."""

    def __init__(self, port: int, why: str) -> None:
        super().__init__(f"Port {port} of {HOST} cannot be listened on ({why})")
        self.port = port


class HangUp(Exception):  # noqa: N818 - nothing went wrong: it is what a server does when it is told to
    """Raised by an application: close the connection without an answer."""


class _TooLargeError(Exception):
    """The body is larger than the server takes."""


class _BrokenBodyError(Exception):
    """The body ends early or is not framed as its headers say."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came: `target` is the path and query as sent, `body` is without chunks and still compressed.

    `request_id` is what the gateway calls it, to its authorizer and to its function alike.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    client: str
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()), compare=False)

    @property
    def path(self) -> str:
        """The path as sent, without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query as sent, without its question mark."""
        return self.target.partition("?")[2]

    def header(self, name: str) -> str:
        """Give the last value of a header, or an empty string."""
        return next((value for key, value in reversed(self.headers) if key.lower() == name.lower()), "")


@dataclass(frozen=True, slots=True)
class Response:
    """A response. Without a Content-Length (a HEAD may be told of a body that is not here) it gets its body's."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


def json_response(status: int, body: object) -> Response:
    """Answer with JSON."""
    return Response(status, [("Content-Type", "application/json")], json.dumps(body).encode())


class Server:
    """An application at a port of this machine, one thread a connection."""

    def __init__(self, port: int, application: Callable[[Request], Response], max_body: int) -> None:
        """Listen on `port`, or any free one for 0. Bodies over `max_body` bytes are answered 413.

        Raises PortTakenError. Nothing is answered before `start`.
        """
        try:
            self._server = _HttpServer(port, application, max_body)
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                raise PortTakenError(port, str(error.strerror)) from error
            raise
        # How often it looks whether to stop, in seconds.
        serve = partial(self._server.serve_forever, poll_interval=0.05)
        self._thread = Thread(target=serve, name=f"port {self.port}", daemon=True)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """Where it is reached."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()


class _HttpServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int, application: Callable[[Request], Response], max_body: int) -> None:
        self.application = application
        self.max_body = max_body
        super().__init__((HOST, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that go away; they do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came


class _Handler(BaseHTTPRequestHandler):
    server: _HttpServer
    protocol_version = "HTTP/1.1"
    # An answer is one write, and is not to wait for the acknowledgement of the one before it.
    wbufsize = -1
    disable_nagle_algorithm = True

    def _answer(self) -> None:
        try:
            self._respond(self._application_answer(self._body()))
        except HangUp:
            self.close_connection = True
        except _TooLargeError:
            self.close_connection = True
            self._respond(json_response(413, {"message": "Request Entity Too Large"}))
        except _BrokenBodyError:
            self.close_connection = True
            self._respond(json_response(400, {"message": "Bad Request"}))

    def handle_expect_100(self) -> bool:
        """Let the client send its body now and not when the buffer is full."""
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def _application_answer(self, body: bytes) -> Response:
        request = Request(self.command, self.path, tuple(self.headers.items()), body, self.client_address[0])
        try:
            return self.server.application(request)
        except HangUp:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, this connection has to be answered
            traceback.print_exc()
            return json_response(500, {"message": "Internal Server Error"})

    def _respond(self, response: Response) -> None:
        self.send_response_only(response.status)
        if not any(name.lower() == "date" for name, _ in response.headers):
            self.send_header("Date", self.date_time_string())
        for name, value in response.headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in response.headers):
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._read(DechunkedInput(cast("IO[bytes]", self.rfile)).read, None)
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()):
            raise _BrokenBodyError
        return self._read(self.rfile.read, int(length))

    def _read(self, read: Callable[[int], bytes | None], length: int | None) -> bytes:
        """Read `length` bytes, or to the end of the chunks."""
        pieces, size = [], 0
        while length is None or size < length:
            try:
                piece = read(_PIECE if length is None else min(_PIECE, length - size))
            except OSError as error:
                raise _BrokenBodyError from error
            if not piece:
                break
            size += len(piece)
            if size <= self.server.max_body:
                pieces.append(piece)
            elif size > self.server.max_body + _PATIENCE:
                break
        if size > self.server.max_body:
            raise _TooLargeError
        if length is not None and size < length:
            raise _BrokenBodyError
        return b"".join(pieces)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Log no requests: the functions' own lines say what became of each event."""


# BaseHTTPRequestHandler has a method for each of HTTP's; here they are one.
for _method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"):
    setattr(_Handler, f"do_{_method}", _Handler._answer)  # noqa: SLF001 - of the class above
