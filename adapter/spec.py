"""OpenLineage 2-0-2's rules for a RunEvent, formats included, and what of an event breaks them.

jsonschema-rs gives the verdict. The reasons of an event that fails are found here, by the same schema: the library's
come in its own order, at a thousand times the cost of the verdict, point elsewhere for keys like `007` and the empty
one, and are exceptions where a value is nested deeply or holds a lone surrogate.
"""

from __future__ import annotations

import json
import re
from calendar import monthrange
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema_rs import Draft202012Validator

from adapter.model import Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    type _Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the schema asks of one value, in those words of JSON Schema that it has for a RunEvent.

    `properties` are the rules of an object's members by name, `others` of those without a name there, `items` of an
    array's elements.
    """

    type: str | None
    enum: list[str] | None
    format: str | None
    required: list[str]
    properties: dict[str, _Rules]
    others: _Rules | None
    items: _Rules | None


def violations(event: object) -> list[Violation]:
    """Say all that `event`, parsed JSON, breaks of a RunEvent's schema; nothing, if it is one. Never raises.

    In document order; what an object lacks comes before what it holds. `path` is where the offending value is, or where
    the missing one should be. `rule` is `required`, `type`, `enum` or `format`. `message` is made of the rule alone and
    never tells what was found. Source: schemas/openlineage-2-0-2.json.
    """
    try:
        if _RUN_EVENT.is_valid(event):
            return []
    except UnicodeEncodeError:
        pass  # a lone surrogate where the schema has a say: the library cannot look at it
    return list(_broken(event, _RULES, ""))


def _broken(value: object, rules: _Rules, path: str) -> Iterator[Violation]:
    """Go through `value` as far down as there are rules, which is a few levels."""
    if found := _wrong(value, rules):
        yield Violation(path, *found)
    if isinstance(value, dict):
        for name in rules.required:
            if name not in value:
                yield Violation(step(path, name), "required", f"is required: {name}")
        for name, member in value.items():
            if inner := rules.properties.get(name, rules.others):
                yield from _broken(member, inner, step(path, _legible(name)))
    elif isinstance(value, list) and rules.items:
        for index, element in enumerate(value):
            yield from _broken(element, rules.items, step(path, index))


def _wrong(value: object, rules: _Rules) -> tuple[str, str] | None:
    """Name the rule that `value` itself breaks, and what it asks for; no value can break two."""
    if rules.type and not isinstance(value, _TYPES[rules.type][0]):
        return "type", f"must be {_TYPES[rules.type][1]}"
    if rules.enum and value not in rules.enum:
        return "enum", f"must be one of {', '.join(rules.enum)}"
    if rules.format and isinstance(value, str) and not _FORMATS[rules.format][0](value):
        return "format", f"must be {_FORMATS[rules.format][1]}"
    return None


def _legible(name: str) -> str:
    """Escape lone surrogates, which no log and no terminal can be given."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _format(name: str) -> Callable[[str], bool]:
    """Let the library judge a format. All of those in use are ASCII, and it raises for a lone surrogate."""
    is_valid = Draft202012Validator({"format": name}, validate_formats=True).is_valid
    return lambda text: text.isascii() and is_valid(text)


_is_grammatical = _format("date-time")
_LEAP_SECOND = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2}).{7}60(?:\.[0-9]+)?([Zz]|[+-].{5})")


def _is_date_time(text: str) -> bool:
    """Judge a date-time, also what the library lets pass: a leap second that cannot be.

    They come only as the last second of a month in UTC (RFC 3339 section 5.7). The library has seen to 23:59 UTC, so
    only the day is left. Ahead of UTC it is the next one already.
    """
    if not _is_grammatical(text):
        return False
    if not (leap_second := _LEAP_SECOND.fullmatch(text)):
        return True
    year, month, day, offset = leap_second.groups()
    ahead = offset.startswith("+") and offset != "+00:00"
    return int(day) == (1 if ahead else monthrange(int(year), int(month))[1])


def _rules(schema: _Schema) -> _Rules:
    """Gather what `schema` asks for by itself, by reference and by composition."""
    parts = list(_parts(schema))
    words = {word: value for part in parts for word, value in part.items()}
    others, items = words.get("additionalProperties"), words.get("items")
    return _Rules(
        type=words.get("type"),
        enum=words.get("enum"),
        format=words.get("format"),
        required=[name for part in parts for name in part.get("required", ())],
        properties={name: _rules(inner) for part in parts for name, inner in part.get("properties", {}).items()},
        others=others and _rules(others),
        items=items and _rules(items),
    )


def _parts(schema: _Schema) -> Iterator[_Schema]:
    yield schema
    referred = [_DEFINITIONS[schema["$ref"].removeprefix(_REFERENCE)]] if "$ref" in schema else []
    for part in [*referred, *schema.get("allOf", ())]:
        yield from _parts(part)


_TYPES = {
    "object": (dict, "an object"),
    "array": (list, "an array"),
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
}
_FORMATS = {
    "date-time": (_is_date_time, "a date and time with an offset, like 2025-06-15T12:00:00Z (RFC 3339 section 5.6)"),
    "uri": (_format("uri"), "a URI with its scheme, like https://example.com/producer (RFC 3986)"),
    "uuid": (_format("uuid"), "a UUID, like 3f5e83fa-3480-44ff-99c5-ff943904e5e8 (RFC 4122)"),
}

# Read and compiled once, when the function starts.
_REFERENCE = "#/$defs/"
_DEFINITIONS: _Schema = json.loads((Path(__file__).parent.parent / "schemas" / "openlineage-2-0-2.json").read_bytes())[
    "$defs"
]
_ROOT = {"$ref": f"{_REFERENCE}RunEvent"}
_RULES = _rules(_ROOT)
_RUN_EVENT = Draft202012Validator(
    _ROOT | {"$defs": _DEFINITIONS}, validate_formats=True, formats={"date-time": _is_date_time}
)
