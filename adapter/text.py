"""Bytes to one JSON object and its canonical text, or a clean refusal.

Stricter than `json.loads(bytes)`, which lets UTF-16, a byte order mark, NaN, Infinity and repeated keys through:
an event that two parsers read differently is not evidence (RFC 8259 sections 4, 6 and 8; RFC 7493 sections 2.1 to 2.3).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NoReturn, cast

from adapter.model import MAX_ERRORS, Code, Rejected, Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON object and its canonical text: what `json.dumps(event, sort_keys=True)` gives, to the letter."""

    event: dict[str, object]
    canonical: str


def _refuse_constant(_: str) -> NoReturn:
    # Python's parser calls this for NaN, Infinity and -Infinity, which JSON does not have (RFC 8259 section 6).
    raise ValueError


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode
# One kept encoder is a third cheaper than json.dumps; what was parsed has no cycles to look for. allow_nan=False finds
# a number beyond a double's range (1e999), which Python reads as infinity: two such events would share one token.
_encode = json.JSONEncoder(sort_keys=True, check_circular=False, allow_nan=False).encode


def parse(raw: bytes) -> Parsed | Rejected:
    """Read `raw` as one JSON object in strict UTF-8 with every key once.

    Never raises. The codes are not_utf8, not_json, too_deep, not_an_object and duplicate_key.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return Rejected(Code.NOT_UTF8, f"not UTF-8 at byte {error.start}")
    if text.startswith(_BYTE_ORDER_MARK):
        return Rejected(Code.NOT_JSON, "starts with a byte order mark (RFC 8259 section 8.1 forbids it)")
    try:
        return _object(text)
    except json.JSONDecodeError as error:
        return Rejected(Code.NOT_JSON, f"not JSON at line {error.lineno}, column {error.colno}")
    except RecursionError:
        return Rejected(Code.TOO_DEEP, "nested too deeply to be read")
    except ValueError:
        # The parser's word for NaN and for an integer over 4,300 digits; the encoder's for a number beyond a double.
        return Rejected(Code.NOT_JSON, "holds NaN, Infinity or a number out of range")


def _object(text: str) -> Parsed | Rejected:
    event = _decode(text)
    if not isinstance(event, dict):
        return Rejected(Code.NOT_AN_OBJECT, "an event is a JSON object")
    canonical = _encode(event)
    # Parsing keeps every string but those of a repeated key, so only then are there fewer quotation marks after it.
    # Counting them is some twenty times cheaper than a parser hook that looks at every object.
    if _quotation_marks(canonical) != _quotation_marks(text):
        return Rejected(
            Code.DUPLICATE_KEY, "a key occurs twice in one object", tuple(islice(_repeated_keys(text), MAX_ERRORS))
        )
    return Parsed(event, canonical)


def _quotation_marks(text: str) -> int:
    """Count the quotation marks that delimit strings: all but the escaped ones."""
    marks = text.count('"')
    if "\\" not in text:
        return marks
    # With escaped backslashes gone, a backslash before a quotation mark can only be its escape.
    return marks - text.replace("\\\\", "").count('\\"')


class _Repeated(dict[str, object]):
    """An object in which `keys_twice` occur more than once."""

    keys_twice: tuple[str, ...] = ()


def _repeated_keys(text: str) -> Iterator[Violation]:
    """Yield where keys are repeated, in document order; what is below a value that a later one replaced is not seen."""
    repeated: list[_Repeated] = []

    def noting_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len(unique := dict(pairs)) == len(pairs):
            return unique
        repeated.append(_Repeated(unique))
        repeated[-1].keys_twice = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        return repeated[-1]

    # Its own stack: Python's would not reach as deep as the parser does.
    waiting: list[tuple[str, object]] = [("", json.loads(text, object_pairs_hook=noting_repeats))]
    left = len(repeated)
    # Large events are refused for one key as a rule: when all are found, the rest is not looked through.
    while waiting and left:
        path, value = waiting.pop()
        if isinstance(value, _Repeated):
            left -= 1
            for key in value.keys_twice:
                yield Violation(step(path, key), "unique_keys", "must occur once in its object")
        waiting += [(step(path, key), child) for key, child in _containers(value)]


def _containers(value: object) -> Iterator[tuple[str | int, object]]:
    """Yield the objects and arrays right below `value` with their keys, the last one first."""
    if isinstance(value, dict):
        below: Iterable[tuple[str | int, object]] = reversed(value.items())
    else:
        below = reversed(list(enumerate(cast("list[object]", value))))
    return ((key, child) for key, child in below if isinstance(child, dict | list))
