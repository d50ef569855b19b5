"""What `parse` says where only its details tell right from wrong; test_accept.py has its verdicts."""

from __future__ import annotations

import json

import pytest

from adapter.model import Code, Rejected, Violation
from adapter.text import Parsed, parse


@pytest.mark.parametrize(
    "raw",
    [
        rb'{"x": "\u0022"}',
        rb'{"x": "\u005c"}',
        rb'{"x": "\u005c\u0022", "y": "\\\"", "z": "\\\u0022"}',
        rb'{"\u0022": "\"", "\u005c": "\\"}',
        rb'{"x": "\\", "y": "\u005c\u005c\""}',
    ],
)
def test_a_quotation_mark_may_be_escaped_in_either_way(raw: bytes) -> None:
    """RFC 8259 section 7: the canonical text has the shorter escape, and no key is taken for a repeated one."""
    assert parse(raw) == Parsed(json.loads(raw), json.dumps(json.loads(raw), sort_keys=True))


def test_only_the_repeated_keys_are_pointed_at() -> None:
    assert parse(b'{"a": 1, "b": {"c": 1, "d": 2, "c": 3}, "e": [{"f": "g"}]}') == Rejected(
        Code.DUPLICATE_KEY,
        "a key occurs twice in one object",
        (Violation("/b/c", "unique_keys", "must occur once in its object"),),
    )


def test_keys_repeated_below_a_value_that_a_later_one_replaced_are_not_pointed_at() -> None:
    """They have no place in what was read."""
    verdict = parse(b'{"a": {"b": 1, "b": 2}, "a": {"c": 1}}')
    assert isinstance(verdict, Rejected)
    assert [error.path for error in verdict.errors] == ["/a"]


def test_what_is_not_json_is_told_where() -> None:
    assert parse(b'{"a":\n 1,}') == Rejected(Code.NOT_JSON, "not JSON at line 2, column 3")


def test_what_is_not_utf8_is_told_where() -> None:
    assert parse(b'{"a": "\xff"}') == Rejected(Code.NOT_UTF8, "not UTF-8 at byte 7")
