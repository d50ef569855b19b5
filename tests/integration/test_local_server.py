"""The local HTTP server takes what real clients send: kept connections, chunks, large bodies, each byte as it came."""

from __future__ import annotations

import http.client
import socket
from typing import TYPE_CHECKING

import pytest

from local.server import HOST, HangUp, PortTakenError, Request, Response, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BODY = 100_000


def answer(request: Request) -> Response:
    if request.path == "/hang-up":
        raise HangUp
    if request.path == "/broken":
        raise ValueError("broken")
    if request.method == "HEAD":
        return Response(200, [("Content-Length", "42")], b"")
    seen = f"{request.method} {request.target} {request.header('X-Twice')} {request.client} ".encode()
    return Response(200, [("X-Seen", "1")], seen + request.body)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(0, answer, MAX_BODY)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def connection(server: Server) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection(HOST, server.port, timeout=60)
    yield connection
    connection.close()


def raw(server: Server, sent: bytes) -> bytes:
    """Send bytes and give all that comes back until the server hangs up."""
    with socket.create_connection((HOST, server.port), timeout=60) as wire:
        wire.sendall(sent)
        wire.shutdown(socket.SHUT_WR)
        pieces = []
        while piece := wire.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


def test_a_connection_is_kept_and_bodies_are_left_alone(connection: http.client.HTTPConnection) -> None:
    kept = []
    for body in (b"\x1f\x8b\x00\xff\r\n", b"", b"x" * MAX_BODY):
        connection.request("POST", "/a%2Fb?c=d", body, {"X-Twice": "2"})
        response = connection.getresponse()
        assert response.read() == b"POST /a%2Fb?c=d 2 127.0.0.1 " + body
        kept.append(connection.sock)
    assert kept[0] is not None
    assert kept.count(kept[0]) == 3


def test_chunks_are_put_together(connection: http.client.HTTPConnection) -> None:
    for _ in range(2):
        connection.request("POST", "/", iter([b"one", b"\r\n", b"x" * 70_000]), encode_chunked=True)
        assert connection.getresponse().read().endswith(b" one\r\n" + b"x" * 70_000)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_answered_and_not_cut_off(
    connection: http.client.HTTPConnection,
    chunked: bool,  # noqa: FBT001 - a table
) -> None:
    """The client gets to read the 413 although it was still sending."""
    body = b"x" * 5_000_000
    connection.request("POST", "/", iter([body]) if chunked else body, encode_chunked=chunked)
    response = connection.getresponse()
    assert (response.status, response.read()) == (413, b'{"message": "Request Entity Too Large"}')
    assert response.headers["Connection"] == "close"


def test_a_client_that_asks_first_is_told_to_go_on(server: Server) -> None:
    sent = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\nhi"
    came = raw(server, sent)
    assert came.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")
    assert came.endswith(b" hi")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nshort",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ],
)
def test_a_body_that_is_not_what_its_headers_say_is_refused(server: Server, sent: bytes) -> None:
    assert raw(server, sent).startswith(b"HTTP/1.1 400 ")


def test_hanging_up_is_no_answer(server: Server) -> None:
    assert raw(server, b"GET /hang-up HTTP/1.1\r\nHost: x\r\n\r\n") == b""


def test_a_bug_is_answered_500_and_shown(
    connection: http.client.HTTPConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    connection.request("GET", "/broken")
    response = connection.getresponse()
    assert (response.status, response.read()) == (500, b'{"message": "Internal Server Error"}')
    assert "ValueError: broken" in capsys.readouterr().err


def test_a_head_is_told_the_length_and_given_nothing(connection: http.client.HTTPConnection) -> None:
    for _ in range(2):
        connection.request("HEAD", "/")
        response = connection.getresponse()
        assert (response.headers["Content-Length"], response.read()) == ("42", b"")


def test_a_taken_port_is_said_so(server: Server) -> None:
    with pytest.raises(PortTakenError, match=f"Port {server.port} of 127.0.0.1") as caught:
        Server(server.port, answer, MAX_BODY)
    assert caught.value.port == server.port
