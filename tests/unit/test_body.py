"""Undoing gzip, announced or not, within a bound."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.body import MAX_BODY_BYTES, decompress, opened
from adapter.model import Code, Rejected, Source


def _code(data: bytes, encoding: str = "") -> Code:
    refused = decompress(data, encoding)
    assert isinstance(refused, Rejected)
    return refused.code


@given(st.binary())
def test_gzip_is_undone_whether_announced_or_not(data: bytes) -> None:
    squeezed = gzip.compress(data)
    for encoding in ("gzip", "GZIP ", "x-gzip", "", "identity"):
        assert decompress(squeezed, encoding) == data


@given(st.binary().filter(lambda data: data[:2] != b"\x1f\x8b"))
def test_a_plain_body_is_taken_as_it_is_even_if_announced_as_gzip(data: bytes) -> None:
    """A proxy may have undone the gzip and left the header."""
    assert decompress(data, "gzip") == data
    assert decompress(data) == data


def test_how_much_came_is_known_where_it_came_compressed() -> None:
    squeezed = gzip.compress(b"an event")
    assert [opened(data, Source.HTTP).packed for data in (squeezed, b"an event")] == [len(squeezed), None]


def test_members_that_follow_each_other_are_one_body() -> None:
    assert decompress(gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two")) == b"one two"


@pytest.mark.parametrize("encoding", ["br", "deflate", "zstd", "gzip, gzip", "gzip;q=1"])
def test_another_encoding_is_refused(encoding: str) -> None:
    assert _code(b"{}", encoding) is Code.UNSUPPORTED_ENCODING


@pytest.mark.parametrize("cut", [2, 3, 9, 10, 12, -1, -8])
def test_gzip_that_ends_too_early_is_refused(cut: int) -> None:
    assert _code(gzip.compress(b"an event")[:cut]) is Code.UNSUPPORTED_ENCODING


@pytest.mark.parametrize("place", [3, 12, -1, -5])
def test_damaged_gzip_is_refused(place: int) -> None:
    damaged = bytearray(gzip.compress(b"an event, somewhat longer than the one above"))
    damaged[place] ^= 0xFF
    assert _code(bytes(damaged)) is Code.UNSUPPORTED_ENCODING


def test_what_follows_gzip_must_be_gzip() -> None:
    assert _code(gzip.compress(b"an event") + b"tail") is Code.UNSUPPORTED_ENCODING


def test_a_body_at_the_limit_is_undone_and_one_beyond_is_too_large() -> None:
    assert decompress(gzip.compress(b" " * MAX_BODY_BYTES)) == b" " * MAX_BODY_BYTES
    assert _code(gzip.compress(b" " * (MAX_BODY_BYTES + 1))) is Code.TOO_LARGE


def test_many_small_members_are_bounded_too() -> None:
    assert _code(gzip.compress(b"") * 100_000) is Code.UNSUPPORTED_ENCODING
    assert _code(gzip.compress(b" " * (MAX_BODY_BYTES // 2)) * 3) is Code.TOO_LARGE


def test_a_bomb_costs_what_a_body_may_have_and_little_more() -> None:
    """10 GB of zeros squeeze into 10 MB; only what the bound allows is ever unpacked."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    block = bytes(1024 * 1024)
    bomb = b"".join(squeeze.compress(block) for _ in range(256)) + squeeze.flush()
    tracemalloc.start()
    assert _code(bomb) is Code.TOO_LARGE
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MAX_BODY_BYTES + 2 * 1024 * 1024


@given(st.binary().map(b"\x1f\x8b\x08".__add__))
def test_nothing_that_starts_like_gzip_makes_it_raise(data: bytes) -> None:
    assert isinstance(decompress(data), bytes | Rejected)
