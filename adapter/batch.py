"""A JSON array to its elements, each as its own slice of the original bytes, never re-serialised."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING = rb'"(?:[^"\\]|\\.)*+"'
# What stands between two marks that matter: anything but marks, and whole strings. Possessive (`++`), so no input
# makes it backtrack.
_BETWEEN_ELEMENTS = re.compile(rb'(?:[^"\[\]{},]|' + _STRING + rb")*+", re.DOTALL)
_INSIDE_ELEMENT = re.compile(rb'(?:[^"\[\]{}]|' + _STRING + rb")*+", re.DOTALL)
_SPACE = b" \t\n\r"  # RFC 8259 section 2

MAX_ELEMENTS = 1_000
# No JSON parser of ours gets further down; a body of brackets alone is not worth walking to its end.
_MAX_DEPTH = 10_000


class NotAnArrayError(Exception):
    """The bytes are not one JSON array, as far as its brackets, commas and strings go."""


class TooManyElementsError(Exception):
    """The array has more than MAX_ELEMENTS elements; its sender can cut it in pieces."""


def elements(raw: bytes) -> list[bytes]:
    """Cut a JSON array into its elements' own bytes, white space around them removed.

    Looks at brackets, commas and strings only, so an element that is not JSON is cut out like any other and cannot harm
    its neighbours. Works on UTF-8 bytes: all of JSON's marks are ASCII. Raises NotAnArrayError where the brackets do
    not make one array, and TooManyElementsError.
    """
    body = raw.strip(_SPACE)
    if not body.startswith(b"["):
        raise NotAnArrayError
    pieces = list(islice(_pieces(body), MAX_ELEMENTS + 1))
    if len(pieces) > MAX_ELEMENTS:
        raise TooManyElementsError
    return [] if pieces == [b""] else pieces


def _pieces(body: bytes) -> Iterator[bytes]:
    depth, start, at = 1, 1, 1
    while 0 < depth <= _MAX_DEPTH:
        at = _next_mark(body, at, depth)
        mark = body[at : at + 1]
        if mark == b"," or (depth == 1 and mark in b"]}"):
            yield body[start:at].strip(_SPACE)
            start = at + 1
        depth += 1 if mark in b"[{" else -1 if mark in b"]}" else 0
        at += 1
    if at != len(body) or body[-1:] != b"]":
        raise NotAnArrayError


def _next_mark(body: bytes, at: int, depth: int) -> int:
    pattern = _BETWEEN_ELEMENTS if depth == 1 else _INSIDE_ELEMENT
    found = pattern.match(body, at)
    at = found.end() if found else at
    if at >= len(body) or body[at : at + 1] == b'"':  # the end, or a string that has none
        raise NotAnArrayError
    return at
