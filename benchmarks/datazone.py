"""A stand-in for DataZone that costs next to nothing: `python -m benchmarks.datazone [DELAY_MS [LIMIT]]`.

A process of its own, so that what it costs is in nobody's measurement. It answers each request after a delay, and
beyond LIMIT requests in a second with DataZone's throttling. Prints its port; `GET /` tells what it has counted.
"""

# ruff: noqa: T201 - whoever starts it reads its port

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass, field

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_HEAD_END = b"\r\n\r\n"


def _answer(status: str, body: bytes, more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


_TAKEN = _answer("200 OK", b'{"id":"abcdefghij1234","domainId":"dzd_1"}')
# S3's answer to an object it takes has no body; one that has and is no XML is an error to its client.
_KEPT = _answer("200 OK", b"")
_THROTTLED = _answer("429 Too Many Requests", b"{}", "x-amzn-ErrorType: ThrottlingException\r\n")


@dataclass(slots=True)
class Account:
    """How DataZone answers and what it has answered; `limit` is requests per second, 0 for none."""

    delay: float
    limit: float
    taken: int = 0
    throttled: int = 0
    first: float = 0.0
    last: float = 0.0
    _tokens: float = field(default=0.0)
    _filled: float = field(default_factory=time.monotonic)

    def answer(self) -> bytes:
        """Take a request, or throttle it: a token bucket that holds a tenth of a second's worth."""
        now = time.monotonic()
        self.first = self.first or now
        if self.limit:
            self._tokens = min(self._tokens + (now - self._filled) * self.limit, max(self.limit / 10, 1.0))
            self._filled = now
            if self._tokens < 1:
                self.throttled += 1
                return _THROTTLED
            self._tokens -= 1
        self.taken += 1
        self.last = now
        return _TAKEN

    def told(self) -> bytes:
        """Tell what was counted since the last time, and forget it."""
        told = {"taken": self.taken, "throttled": self.throttled, "seconds": self.last - self.first}
        self.taken = self.throttled = 0
        self.first = self.last = 0.0
        return _answer("200 OK", json.dumps(told).encode())


class _Connection(asyncio.Protocol):
    def __init__(self, account: Account) -> None:
        self._account = account
        self._pending = bytearray()
        self._needed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP has no other
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._pending += data
        if not self._needed and (end := self._pending.find(_HEAD_END)) >= 0:
            length = _LENGTH.search(self._pending, 0, end)
            self._needed = end + len(_HEAD_END) + (int(length[1]) if length else 0)
            # S3's client asks before it sends; both answers are its own server's as well.
            if self._needed > len(self._pending) and b"100-continue" in self._pending[:end]:
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not self._needed or len(self._pending) < self._needed:
            return
        method = bytes(self._pending[:4])
        del self._pending[: self._needed]
        self._needed = 0
        if method == b"GET ":
            self._transport.write(self._account.told())
        elif method == b"PUT ":
            self._transport.write(_KEPT)
        elif self._account.delay:
            asyncio.get_running_loop().call_later(self._account.delay, self._transport.write, self._account.answer())
        else:
            self._transport.write(self._account.answer())


async def _serve(account: Account) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(account), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    settings = [float(argument) for argument in sys.argv[1:]]
    asyncio.run(_serve(Account(*([settings[0] / 1000, *settings[1:], 0.0][:2] if settings else (0.0, 0.0)))))
