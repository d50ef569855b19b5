"""Cutting an array into its elements' own bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.batch import MAX_ELEMENTS, NotAnArrayError, TooManyElementsError, elements

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=10,
)
_space = st.text(" \t\r\n", max_size=3)


@given(st.lists(st.tuples(_json, st.booleans(), _space, _space), min_size=1, max_size=6))
def test_each_element_is_its_own_slice(parts: list[tuple[object, bool, str, str]]) -> None:
    """Whatever the elements and the white space between them: the bytes of each come out untouched."""
    spelled = [json.dumps(value, ensure_ascii=ascii_only) for value, ascii_only, _, _ in parts]
    between = ",".join(before + one + after for one, (_, _, before, after) in zip(spelled, parts, strict=True))
    expected = [one.encode("utf-8", "surrogatepass") for one in spelled]
    assert elements(f" [{between}]\n".encode("utf-8", "surrogatepass")) == expected


@pytest.mark.parametrize("raw", [b"[]", b" [ ] ", b"[\r\n\t]"])
def test_an_empty_array_has_no_elements(raw: bytes) -> None:
    assert elements(raw) == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'[{"a": 1}, {bad,}, {"b": 2}]', [b'{"a": 1}', b"{bad,}", b'{"b": 2}']),
        (b"[1, , 2]", [b"1", b"", b"2"]),
        (b"[1,]", [b"1", b""]),
        (b'[{"a": NaN} trailing, {"b": "\xff"}]', [b'{"a": NaN} trailing', b'{"b": "\xff"}']),
        (b'[{"a": "\\"],[{"}, "]"]', [b'{"a": "\\"],[{"}', b'"]"']),
        (b'[{"a": "\n"}, 2]', [b'{"a": "\n"}', b"2"]),
        (b"[{]]", [b"{]"]),
    ],
)
def test_a_bad_element_is_cut_out_and_its_neighbours_stay_whole(raw: bytes, expected: list[bytes]) -> None:
    assert elements(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b"1",
        b"[",
        b"[1",
        b'["',
        b'["\\"]',
        b"[1]]",
        b"[1}",
        b"[1] 2",
        b"[{]",
        b"\xef\xbb\xbf[]",
        b"[" * 20_000,
    ],
)
def test_what_is_not_one_array_is_refused(raw: bytes) -> None:
    with pytest.raises(NotAnArrayError):
        elements(raw)


def test_a_batch_is_bounded() -> None:
    assert len(elements(b"[" + b",".join([b"1"] * MAX_ELEMENTS) + b"]")) == MAX_ELEMENTS
    with pytest.raises(TooManyElementsError):
        elements(b"[" + b",".join([b"1"] * (MAX_ELEMENTS + 1)) + b"]")


@given(st.binary(max_size=60) | st.text('[]{},"\\ 1a', max_size=60).map(str.encode))
def test_nothing_escapes_but_the_two_errors(raw: bytes) -> None:
    try:
        assert all(isinstance(one, bytes) for one in elements(raw))
    except (NotAnArrayError, TooManyElementsError):
        return
