"""A transport's bytes to the event's: gzip undone, whether or not it was announced, and never without a bound."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, TypedDict, Unpack

from adapter.model import Code, Received, Rejected, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

# A synchronous Lambda payload is at most 6 MB (AWS Lambda quotas), so no plain body can be larger; a compressed one
# may not grow larger either. A bomb of any size costs this much memory and no more.
MAX_BODY_BYTES = 6 * 1024 * 1024

_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = zlib.MAX_WBITS | 16  # zlib's way to ask for the gzip format (RFC 1952)
# Writers in blocks (bgzip) make a member of every 64 KB; each further one costs a copy of what follows it.
_MAX_MEMBERS = 128
# Unpacked at a time: a bomb is noticed with little more in memory than what it may have.
_PIECE = 256 * 1024
_PLAIN = frozenset({"", "identity"})
_GZIP = frozenset({"gzip", "x-gzip"})  # aliases: RFC 9110 section 8.4.1.3


class Known(TypedDict, total=False):
    """What a door may know of an event beside its bytes; see Received."""

    producer: str | None
    namespaces: tuple[str, ...] | None
    replays: str | None
    received_at: float
    ids: Mapping[str, object]


def opened(data: bytes, source: Source, encoding: str = "", **known: Unpack[Known]) -> Received:
    """Make of a transport's `data` what is to be judged: decompressed, or refused as it came, with what is `known`."""
    raw = decompress(data, encoding)
    if isinstance(raw, Rejected):
        return Received(data, source, refused=raw, **known)
    return Received(raw, source, packed=None if raw is data else len(data), **known)


def decompress(data: bytes, encoding: str = "") -> bytes | Rejected:
    """Undo gzip where `data` starts like gzip; `encoding` is the Content-Encoding header, if any.

    The first bytes decide, not the header: clients have sent gzip without one, and proxies undo gzip without removing
    it. Refuses an encoding other than gzip or identity, a body that starts like gzip and is not (both
    unsupported_encoding), and one that grows beyond MAX_BODY_BYTES (too_large).
    """
    if encoding.strip().lower() not in _PLAIN | _GZIP:
        return Rejected(Code.UNSUPPORTED_ENCODING, "Content-Encoding is neither gzip nor identity")
    if not data.startswith(_GZIP_MAGIC):
        return data
    try:
        return _gunzip(data)
    except zlib.error:
        return Rejected(Code.UNSUPPORTED_ENCODING, "starts like gzip and is not")


def _gunzip(data: bytes) -> bytes | Rejected:
    plain = bytearray()
    for _ in range(_MAX_MEMBERS):  # members may follow each other (RFC 1952 section 2.2)
        member = zlib.decompressobj(_GZIP_WINDOW)
        while not member.eof:
            piece = member.decompress(data, _PIECE)
            if not piece and not member.eof:
                return Rejected(Code.UNSUPPORTED_ENCODING, "gzip that ends too early")
            plain += piece
            if len(plain) > MAX_BODY_BYTES:
                return Rejected(Code.TOO_LARGE, f"more than {MAX_BODY_BYTES} bytes once decompressed")
            data = member.unconsumed_tail
        data = member.unused_data
        if not data:
            return bytes(plain)
    return Rejected(Code.UNSUPPORTED_ENCODING, f"gzip of more than {_MAX_MEMBERS} members")
