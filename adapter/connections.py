"""The connections that DataZone is posted over: http.client's, kept and used again.

botocore sends through urllib3, whose layers are three tenths of what a call costs, and which reads the certificates of
all authorities anew for each connection. botocore's event `before-send` lets somebody else send; signing, parsing and
errors stay botocore's.
"""

from __future__ import annotations

import select
import ssl
import weakref
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from botocore.awsrequest import AWSResponse
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from botocore.awsrequest import AWSPreparedRequest


class Connections:
    """Sends one client's requests to its one endpoint, as a handler of botocore's `before-send`.

    Safe in several threads: a connection is with one request at a time.
    """

    def __init__(self, endpoint_url: str, connect: float, read: float, ca_bundle: str) -> None:
        """Connect to `endpoint_url` within `connect` seconds, wait for `read` seconds for each read of an answer.

        `ca_bundle` is the path of the authorities' certificates; a server that none of them vouches for gets nothing.
        """
        endpoint = urlsplit(endpoint_url)
        self._host = endpoint.netloc
        self._context = ssl.create_default_context(cafile=ca_bundle) if endpoint.scheme == "https" else None
        self._connect_seconds = connect
        self._read_seconds = read
        self._idle: deque[HTTPConnection] = deque()
        weakref.finalize(self, _close_all, self._idle)

    def __call__(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        """Send `request`; raise what botocore's own sender raises: a BotoCoreError of a kind for each trouble."""
        connection = self._kept() or self._new(request.url)
        try:
            answer = _exchanged(connection, request)
        except TimeoutError as error:
            connection.close()
            raise ReadTimeoutError(endpoint_url=request.url, error=error) from error
        except (OSError, HTTPException) as error:
            connection.close()
            raise ConnectionClosedError(endpoint_url=request.url, error=error) from error
        # One that the server wants closed has no socket any more.
        if connection.sock:
            self._idle.append(connection)
        return answer

    def _kept(self) -> HTTPConnection | None:
        """Give a connection that is free, the last used first, and close those that the server has closed meanwhile."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread has taken it
                return None
            if not _has_ended(connection):
                return connection
            connection.close()
        return None

    def _new(self, url: str) -> HTTPConnection:
        connection = self._unconnected()
        try:
            connection.connect()
        except TimeoutError as error:
            raise ConnectTimeoutError(endpoint_url=url, error=error) from error
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=url, error=error) from error
        except OSError as error:
            raise EndpointConnectionError(endpoint_url=url, error=error) from error
        connection.sock.settimeout(self._read_seconds)
        return connection

    def _unconnected(self) -> HTTPConnection:
        if self._context is None:
            return HTTPConnection(self._host, timeout=self._connect_seconds)
        return HTTPSConnection(self._host, timeout=self._connect_seconds, context=self._context)


def _has_ended(connection: HTTPConnection) -> bool:
    # Nothing has been asked: what there is to read is the end.
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))


def _close_all(connections: deque[HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _exchanged(connection: HTTPConnection, request: AWSPreparedRequest) -> AWSResponse:
    target = urlsplit(request.url)
    path = f"{target.path}?{target.query}" if target.query else target.path
    # botocore's stubs have text as a body, and headers of other classes than its code has.
    connection.request(request.method, path, request.body, request.headers)  # type: ignore[arg-type]
    response = connection.getresponse()
    return AWSResponse(request.url, response.status, response.headers, _Whole(response.read()))  # type: ignore[arg-type]


class _Whole:
    """A body that has been read, in the shape that AWSResponse reads."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterable[bytes]:
        return (self._body,)
