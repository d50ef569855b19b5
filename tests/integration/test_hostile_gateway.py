"""Hostile requests on a real socket: what is too large, too many headers, odd paths; and the adapter lives on."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.fakes import run_event

if TYPE_CHECKING:
    from tests.integration.running import Running

MEGABYTE = 1024 * 1024


@pytest.fixture(autouse=True)
def _lives_on(system: Running) -> None:
    """Before each test, and so after the one before it, an event is delivered."""
    assert system.post(run_event(mark=str(uuid4()))).status == 200


def _sent(system: Running, request: bytes) -> tuple[int, bytes]:
    """Send bytes as they are; give the status and the whole answer."""
    host = urlsplit(system.url)
    with socket.create_connection((host.hostname, host.port), timeout=20) as connection:
        connection.sendall(request)
        answer = connection.makefile("rb").read()
    return int(answer.split(b" ", 2)[1]), answer


def _request(line: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"\r\n".join([line + b" HTTP/1.1", b"Host: x", b"Connection: close", length, *headers, b"", body])


@pytest.mark.parametrize("megabytes", [5, 6, 10, 11])
def test_what_neither_gateway_nor_lambda_takes_is_413(system: Running, megabytes: int) -> None:
    """5 MB reach the adapter, which says so itself; 6 MB are too many for Lambda, more than 10 for the gateway."""
    answer = system.post(b'{"a": "' + b"x" * (megabytes * MEGABYTE - 9) + b'"}')
    assert answer.status == 413
    assert "Retry-After" not in answer.headers
    assert (answer.body.get("code") == "too_large") is (megabytes == 5)


@pytest.mark.parametrize(
    "path",
    [
        *(b"/./lineage", b"/health/../lineage", b"/%2e%2e/lineage", b"/%5clineage", b"/lineage;x", b"/LINEAGE"),
        *(b"/lineage%00", b"/lineage%20", b"/lineage%0d%0aX:y", b"/%c0%afapi/v1/lineage", b"/" + b"a/" * 5_000),
    ],
)
def test_an_odd_path_leads_nowhere(system: Running, path: bytes) -> None:
    status, answer = _sent(system, _request(b"POST " + path, body=run_event()))
    assert status == 404
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "not_found"
    assert b"X:y" not in answer


def test_another_method_is_refused_whatever_a_header_says(system: Running) -> None:
    for method in (b"GET", b"PUT", b"DELETE", b"TRACE", b"OPTIONS"):
        override = b"X-HTTP-Method-Override: POST"
        status, answer = _sent(system, _request(method + b" /api/v1/lineage", override, body=run_event()))
        assert status == 405
        assert b"\r\nAllow: POST\r\n" in answer


def test_a_flood_of_headers_is_refused_or_of_no_account(system: Running) -> None:
    few = [b"X-%d: y" % number for number in range(80)]
    many = [b"X-%d: y" % number for number in range(5_000)]
    assert _sent(system, _request(b"POST /api/v1/lineage", *few, body=run_event()))[0] == 200
    assert _sent(system, _request(b"POST /api/v1/lineage", *many, body=run_event()))[0] == 431
    assert _sent(system, _request(b"POST /api/v1/lineage", b"X: " + b"y" * 70_000, body=run_event()))[0] == 431


def test_a_second_request_hidden_in_the_first_is_not_answered(system: Running) -> None:
    """Where one server believes Content-Length and another the chunks, a request can be smuggled between them."""
    hidden = _request(b"POST /api/v1/lineage", body=run_event(mark=str(uuid4())))
    _, answer = _sent(system, _request(b"POST /x", b"Transfer-Encoding: chunked", body=b"0\r\n\r\n" + hidden))
    assert b"delivered" not in answer
