"""An HTTP server that notes what a client sends and answers as a script says, or passes it on to the adapter."""

from __future__ import annotations

import gzip
import http.client
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# These belong to one connection (RFC 9110, section 7.6.1), or are said anew.
HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive", "date", "server"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it came; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> bytes:
        """The body, decompressed."""
        return gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; Content-Length is added."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b"{}"


# No answer at all: the connection is closed.
HANG_UP = Answer(0)

type Answering = Callable[[Asked], Answer]


@dataclass(frozen=True, slots=True)
class Recorder:
    """A running recorder: its URL and the exchanges so far, in the order in which they were answered."""

    url: str
    exchanges: list[tuple[Asked, Answer]]

    @property
    def asked(self) -> list[Asked]:
        """What came."""
        return [asked for asked, _ in self.exchanges]

    @property
    def statuses(self) -> list[int]:
        """What was answered."""
        return [answer.status for _, answer in self.exchanges]


def passing(url: str) -> Answering:
    """Pass each request on to the same path at `url`, with body and headers as they came."""

    def answering(asked: Asked) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        headers = {name: value for name, value in asked.headers.items() if name not in HOP_BY_HOP}
        connection.request(asked.method, asked.path, asked.body, headers)
        response = connection.getresponse()
        kept = {name: value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP}
        answer = Answer(response.status, kept, response.read())
        connection.close()
        return answer

    return answering


@contextmanager
def recording(answering: Answering) -> Iterator[Recorder]:
    """Record on a free port of this machine what clients send, and answer it with `answering`."""
    exchanges: list[tuple[Asked, Answer]] = []
    handler = type("Handler", (_Handler,), {"answering": staticmethod(answering), "exchanges": exchanges})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield Recorder(f"http://127.0.0.1:{server.server_port}", exchanges)
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answering: Answering
    exchanges: list[tuple[Asked, Answer]]

    def do_POST(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._chunked() if "chunked" in headers.get("transfer-encoding", "") else self._sized(headers)
        asked = Asked(self.command, self.path, headers, body)
        answer = type(self).answering(asked)
        self.exchanges.append((asked, answer))
        if answer is HANG_UP:
            self.close_connection = True
            return
        try:
            self._send(answer)
        except ConnectionError:
            # A client that waited for too long has left; that is one of the things to be seen.
            self.close_connection = True

    do_GET = do_POST  # noqa: N815 - the name is the base class's

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(answer.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def _sized(self, headers: Mapping[str, str]) -> bytes:
        return self.rfile.read(int(headers.get("content-length", "0")))

    def _chunked(self) -> bytes:
        # RFC 9112, section 7.1; a client's extensions and trailers are skipped.
        whole = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return whole

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keep the test's output clean."""
