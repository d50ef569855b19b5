"""OpenLineage 2-0-2's rules for a RunEvent, formats included, and what of an event breaks them."""

from __future__ import annotations

import json
import re
from calendar import monthrange
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import jsonschema_rs

from adapter.model import Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Callable

    type _Json = dict[str, _Json] | list[_Json] | str | float | bool | None
    type _Path = list[str | int]

_DOCUMENT = json.loads((Path(__file__).parent.parent / "schemas" / "openlineage-2-0-2.json").read_bytes())
_RUN_EVENT = jsonschema_rs.Draft202012Validator(
    {"$ref": "#/$defs/RunEvent", "$defs": _DOCUMENT["$defs"]}, validate_formats=True
)
# Steps down to the deepest place the schema has a word about: /inputs/0/facets/schema/_producer.
_DEEPEST = 5

_TYPES = {"object": "an object", "array": "an array", "string": "a string", "boolean": "true or false"}
_FORMATS = {
    "date-time": "a date and time with an offset, like 2025-06-15T12:00:00Z (RFC 3339 section 5.6)",
    "uri": "a URI with its scheme, like https://example.com/producer (RFC 3986)",
    "uuid": "a UUID, like 3f5e83fa-3480-44ff-99c5-ff943904e5e8 (RFC 4122)",
}
# Each rule's wish, made of the rule alone: a message never tells what was found.
_WISHES: dict[str, Callable[[Any], str]] = {
    "required": lambda key: f"is required: {key}",
    "type": lambda types: f"must be {_TYPES[types[0]]}",
    "enum": lambda options: f"must be one of {', '.join(options)}",
    "format": lambda name: f"must be {_FORMATS[name]}",
}

# Begins no escaped string: after a backslash, an escape has another one or a letter.
_MARK = "\\."

_LEAP_SECOND = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])-([0-9]{2})[Tt][0-9:]{6}60(?:\.[0-9]+)?([Zz]|[+-][0-9:]{5})")


def violations(event: object) -> list[Violation]:
    """Say all that `event`, parsed JSON, breaks of a RunEvent's schema; nothing, if it is one. Never raises.

    In document order; what an object lacks comes before what it holds. `path` is where the offending value is, or where
    the missing one should be. `rule` is `required`, `type`, `enum` or `format`. Source: schemas/openlineage-2-0-2.json.
    """
    if _passes(event):
        return []
    outline = _outline({**event, "eventTime": ""} if _misplaced_leap_second(event) else event)
    place = _places(outline)
    errors = [(error.instance_path, error.kind) for error in _RUN_EVENT.iter_errors(outline)]
    errors.sort(key=lambda error: place(error[0]))
    return [_violation(path, kind) for path, kind in errors]


def _passes(event: object) -> bool:
    try:
        return _RUN_EVENT.is_valid(event) and not _misplaced_leap_second(event)
    except UnicodeEncodeError:
        return False  # a lone surrogate where the validator looks; the outline has none


def _misplaced_leap_second(event: object) -> TypeGuard[dict[str, object]]:
    """Find a leap second that cannot be, which the validator lets pass.

    They come only as the last second of a month in UTC (RFC 3339 section 5.7). The validator has seen to 23:59 UTC, so
    only the day is left. Ahead of UTC it is the next one already.
    """
    time = event.get("eventTime") if isinstance(event, dict) else None
    found = _LEAP_SECOND.fullmatch(time) if isinstance(time, str) else None
    if not found:
        return False
    year, month, day, offset = found.groups()
    ahead = offset.startswith("+") and offset != "+00:00"
    return int(day) != (1 if ahead else monthrange(int(year), int(month))[1])


def _outline(value: object, levels: int = _DEEPEST) -> _Json:
    """Copy what the schema looks at, such that the validator can report on all of it.

    Its errors carry a copy of the offending value, which fails for one nested deeply and for a lone surrogate; so
    nothing deeper than the schema is kept, and strings are escaped. The escape tells any two strings apart and keeps
    the schema's own words. It has a backslash where it changed something, so it mends no string's format.
    """
    match value:
        case str():
            return _escaped(value)
        case dict():
            return {_key(name): _outline(each, levels - 1) for name, each in value.items()} if levels else {}
        case list():
            return [_outline(each, levels - 1) for each in value] if levels else []
        case _:
            return cast("_Json", value)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode("ascii")


def _key(name: str) -> str:
    """Escape a key; mark one that the validator's paths would lose (the empty one) or take for an index (007, +1)."""
    return _escaped(name) if name.isidentifier() else _MARK + _escaped(name)


def _name(key: str) -> str:
    """Give the name behind `key`, but with a lone surrogate still escaped: no log or terminal could be given that."""
    name = key.removeprefix(_MARK).encode("ascii").decode("unicode_escape")
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _places(outline: _Json) -> Callable[[_Path], list[int]]:
    """Make the function that turns a path into its place in the document: its number at each level."""
    orders: dict[int, dict[str, int]] = {}

    def order(keys: dict[str, _Json]) -> dict[str, int]:
        if id(keys) not in orders:
            orders[id(keys)] = {key: number for number, key in enumerate(keys)}
        return orders[id(keys)]

    def place(path: _Path) -> list[int]:
        numbers, value = [], cast("Any", outline)
        for key in path:
            numbers.append(order(value)[key] if isinstance(key, str) else key)
            value = value[key]
        return numbers

    return place


def _violation(path: _Path, kind: jsonschema_rs.ValidationErrorKind) -> Violation:
    where = [_name(key) if isinstance(key, str) else key for key in path]
    if kind.name == "required":
        where.append(kind.value)
    return Violation(reduce(step, where, ""), kind.name, _WISHES[kind.name](kind.value))
