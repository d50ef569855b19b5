"""Taking KPL aggregates apart."""

from __future__ import annotations

from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.kpl import MAGIC, BrokenAggregateError, is_aggregate, records
from local.kpl import aggregate


def _sealed(body: bytes) -> bytes:
    return MAGIC + body + md5(body, usedforsecurity=False).digest()


@given(st.lists(st.tuples(st.text(max_size=8), st.binary(max_size=300)), max_size=12))
def test_every_record_comes_out_in_order(put_in: list[tuple[str, bytes]]) -> None:
    packed = aggregate(put_in)
    assert is_aggregate(packed)
    assert records(packed) == [data for _, data in put_in]


def test_what_does_not_matter_is_stepped_over() -> None:
    """Tags, hash keys and fields of every wire type that a later version may add."""
    record = b"\x08\x00" + b"\x10\x01" + b"\x1a\x02hi" + b"\x22\x03\x0a\x01t" + b"\x29" + b"8" * 8 + b"\x35" + b"4" * 4
    body = b"\x0a\x01k" + b"\x12\x010" + b"\x1a" + bytes([len(record)]) + record + b"\x20\x7f"
    assert records(_sealed(body)) == [b"hi"]


def test_the_last_of_several_data_fields_counts() -> None:
    assert records(_sealed(b"\x1a\x08\x1a\x02no\x1a\x02hi")) == [b"hi"]


@pytest.mark.parametrize("data", [b"", b"{}", b"\x1f\x8b", MAGIC[:3], b"\x00" + MAGIC])
def test_what_has_no_magic_is_no_aggregate(data: bytes) -> None:
    assert not is_aggregate(data)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\x1a\x02\x08\x00", "no data"),
        (b"\x1a\x00", "no data"),
        (b"\x1a\x05\x1a\x02hi", "ends too late"),
        (b"\x1a\x04\x1a\x03hi", "ends too late"),
        (b"\x1a\x7f", "ends too late"),
        (b"\x21\x00", "ends too late"),
        (b"\x25\x00", "ends too late"),
        (b"\x1b", "unknown type"),
        (b"\x1a", "has no end"),
        (b"\x08\xff", "has no end"),
        (b"\x08" + b"\xff" * 10 + b"\x00", "has no end"),
    ],
)
def test_an_aggregate_with_a_broken_body_is_broken(body: bytes, reason: str) -> None:
    with pytest.raises(BrokenAggregateError, match=reason):
        records(_sealed(body))


@pytest.mark.parametrize("cut", [0, 1, 15, 16, -1, -17])
def test_a_torn_aggregate_is_broken(cut: int) -> None:
    packed = aggregate([("k", b"an event")])
    with pytest.raises(BrokenAggregateError, match="checksum"):
        records(packed[: len(MAGIC) + cut] if cut >= 0 else packed[:cut])


@given(st.binary(max_size=80))
def test_nothing_escapes_but_the_one_error(body: bytes) -> None:
    for data in (MAGIC + body, _sealed(body)):
        try:
            assert all(isinstance(one, bytes) for one in records(data))
        except BrokenAggregateError:
            continue
