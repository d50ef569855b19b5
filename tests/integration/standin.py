"""An HTTP server in the adapter's place, for what the real one cannot be brought to do."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapter.doors.answers import Answer

    # Path, headers and body of a POST to a Lambda proxy result, or None to hang up without an answer.
    type Answering = Callable[[str, dict[str, str], bytes], Answer | None]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body in one packet, or each answer takes 40 ms (Nagle's algorithm and delayed acknowledgements).
    wbufsize = -1
    answering: Answering

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # Its client was killed between head and body: like the real one, this has not got an event.
            self.close_connection = True
            return
        answer = type(self).answering(self.path, dict(self.headers), body)
        if answer is None:
            self.close_connection = True
            return
        content = answer["body"].encode()
        self.send_response(answer["statusCode"])
        for name, value in (answer["headers"] | {"Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Keep the test's output clean."""


@contextmanager
def serving(answering: Answering) -> Iterator[str]:
    """Answer POSTs with `answering` on a free port of this machine; gives the URL."""
    handler = type("Handler", (_Handler,), {"answering": staticmethod(answering)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
