"""What `violations` says: each rule of a RunEvent broken once, and what only hostile events do."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, Final

import pytest

from adapter.model import Violation
from adapter.spec import violations

URI = "https://example.com/retail"
UUID = "3f5e83fa-3480-44ff-99c5-ff943904e5e8"
DEEP = 50_000

type Path = tuple[str | int, ...]


def _facets() -> dict[str, object]:
    return {"f": {"_producer": URI, "_schemaURL": URI, "value": None}}


def whole() -> dict[str, Any]:
    """Make a RunEvent with everything the schema has a word about."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2025-06-15T12:00:00Z",
        "producer": URI,
        "schemaURL": URI,
        "run": {"runId": UUID, "facets": _facets()},
        "job": {"namespace": "retail", "name": "orders", "facets": _facets()},
        "inputs": [{"namespace": "s3://lake", "name": "raw", "facets": _facets(), "inputFacets": _facets()}],
        "outputs": [{"namespace": "s3://lake", "name": "daily", "facets": _facets(), "outputFacets": _facets()}],
    }


class Dropped:
    """Stands in a table for a member that is not there."""


DROPPED: Final = Dropped()


def changed(event: dict[str, Any], path: Path, value: object) -> dict[str, Any]:
    """Copy `event` with the value at `path` replaced, added or dropped."""
    event = deepcopy(event)
    *parents, last = path
    place: Any = event
    for key in parents:
        place = place[key]
    if isinstance(value, Dropped):
        del place[last]
    else:
        place[last] = value
    return event


DATASETS: list[Path] = [("inputs", 0), ("outputs", 0)]
# What a facet may hang on, and whether it may ask for deletion there.
FACETS: dict[Path, bool] = {
    ("run", "facets"): False,
    ("job", "facets"): True,
    ("inputs", 0, "facets"): True,
    ("inputs", 0, "inputFacets"): False,
    ("outputs", 0, "facets"): True,
    ("outputs", 0, "outputFacets"): False,
}
A_DATE_TIME = "must be a date and time with an offset, like 2025-06-15T12:00:00Z (RFC 3339 section 5.6)"
A_URI = "must be a URI with its scheme, like https://example.com/producer (RFC 3986)"
A_UUID = "must be a UUID, like 3f5e83fa-3480-44ff-99c5-ff943904e5e8 (RFC 4122)"
AN_EVENT_TYPE = "must be one of START, RUNNING, COMPLETE, ABORT, FAIL, OTHER"

# (changed place, its new value, the rule that breaks there, what it asks for): every rule, alone.
BROKEN: list[tuple[Path, object, str, str]] = [
    (("eventTime",), DROPPED, "required", "is required: eventTime"),
    (("eventTime",), 1750000000, "type", "must be a string"),
    (("eventTime",), "2025-06-15T12:00:00", "format", A_DATE_TIME),
    (("producer",), DROPPED, "required", "is required: producer"),
    (("producer",), None, "type", "must be a string"),
    (("producer",), "retail", "format", A_URI),
    (("schemaURL",), DROPPED, "required", "is required: schemaURL"),
    (("schemaURL",), [URI], "type", "must be a string"),
    (("schemaURL",), "#/$defs/RunEvent", "format", A_URI),
    (("eventType",), "COMPLETED", "enum", AN_EVENT_TYPE),
    (("eventType",), "start", "enum", AN_EVENT_TYPE),
    (("eventType",), None, "enum", AN_EVENT_TYPE),
    (("run",), DROPPED, "required", "is required: run"),
    (("run",), UUID, "type", "must be an object"),
    (("run", "runId"), DROPPED, "required", "is required: runId"),
    (("run", "runId"), 7, "type", "must be a string"),
    (("run", "runId"), "7", "format", A_UUID),
    (("job",), DROPPED, "required", "is required: job"),
    (("job",), "orders", "type", "must be an object"),
    (("inputs",), None, "type", "must be an array"),
    (("inputs",), {}, "type", "must be an array"),
    (("outputs",), None, "type", "must be an array"),
    (("outputs",), "daily", "type", "must be an array"),
    *[((*dataset,), "raw", "type", "must be an object") for dataset in DATASETS],
    *[
        ((*named, key), *rest)
        for named in [("job",), *DATASETS]
        for key in ("namespace", "name")
        for rest in [(DROPPED, "required", f"is required: {key}"), (None, "type", "must be a string")]
    ],
    *[((*facets,), [], "type", "must be an object") for facets in FACETS],
    *[((*facets, "f"), None, "type", "must be an object") for facets in FACETS],
    *[
        ((*facets, "f", key), *rest)
        for facets in FACETS
        for key in ("_producer", "_schemaURL")
        for rest in [
            (DROPPED, "required", f"is required: {key}"),
            (1, "type", "must be a string"),
            ("facets/f.json", "format", A_URI),
        ]
    ],
    *[
        ((*facets, "f", "_deleted"), "yes", "type", "must be true or false")
        for facets, deletable in FACETS.items()
        if deletable
    ],
]
# Changes that leave a RunEvent a RunEvent.
KEPT: list[tuple[Path, object]] = [
    *[(("eventType",), event_type) for event_type in ("START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER")],
    (("eventType",), DROPPED),
    (("inputs",), DROPPED),
    (("inputs",), []),
    (("outputs",), DROPPED),
    (("outputs",), []),
    (("dataset",), None),
    (("note",), {"any": [None, 1.5, True]}),
    *[((*facets,), DROPPED) for facets in FACETS],
    *[((*facets,), {}) for facets in FACETS],
    *[((*facets, "f", "value"), {"a": [None]}) for facets in FACETS],
    *[
        ((*facets, "f", "_deleted"), value)
        for facets, deletable in FACETS.items()
        for value in ([True, False] if deletable else [True, "yes", None])
    ],
]


def _pointer(path: Path) -> str:
    return "".join(f"/{key}" for key in path)


def test_a_whole_run_event_breaks_nothing() -> None:
    assert violations(whole()) == []


@pytest.mark.parametrize(("path", "value", "rule", "message"), BROKEN)
def test_each_rule_breaks_alone_and_says_where_and_what(path: Path, value: object, rule: str, message: str) -> None:
    assert violations(changed(whole(), path, value)) == [Violation(_pointer(path), rule, message)]


@pytest.mark.parametrize(("path", "value"), KEPT)
def test_what_no_rule_forbids_passes(path: Path, value: object) -> None:
    assert violations(changed(whole(), path, value)) == []


@pytest.mark.parametrize("event", [None, True, 1, 1.5, "event", []])
def test_what_is_no_object_is_told_so(event: object) -> None:
    assert violations(event) == [Violation("", "type", "must be an object")]


def test_an_empty_object_lacks_five_things_in_the_schemas_order() -> None:
    assert [one.path for one in violations({})] == ["/eventTime", "/producer", "/schemaURL", "/run", "/job"]


def test_violations_come_in_document_order() -> None:
    """Not in the validator's, and what an object lacks before what it holds."""
    event = {
        "outputs": [{"facets": {"z": {"_schemaURL": 1}, "a": 2}, "name": 3}, 4],
        "unknown": 5,
        "job": {"name": 6, "namespace": 7},
        "eventType": "DONE",
        "run": {"facets": {"10": 8, "9": 9}, "runId": "x"},
        "inputs": None,
        "producer": "x",
        "schemaURL": URI,
    }
    assert [(one.path, one.rule) for one in violations(event)] == [
        ("/eventTime", "required"),
        ("/outputs/0/namespace", "required"),
        ("/outputs/0/facets/z/_producer", "required"),
        ("/outputs/0/facets/z/_schemaURL", "type"),
        ("/outputs/0/facets/a", "type"),
        ("/outputs/0/name", "type"),
        ("/outputs/1", "type"),
        ("/job/name", "type"),
        ("/job/namespace", "type"),
        ("/eventType", "enum"),
        ("/run/facets/10", "type"),
        ("/run/facets/9", "type"),
        ("/run/runId", "format"),
        ("/inputs", "type"),
        ("/producer", "format"),
    ]


@pytest.mark.parametrize(
    ("key", "spelled"),
    [
        ("", ""),
        ("0", "0"),
        ("007", "007"),
        ("+1", "+1"),
        ("-1", "-1"),
        ("a b", "a b"),
        ("m~n/o", "m~0n~1o"),
        ("~1", "~01"),
        ("größe", "größe"),
        ("größe 😀", "größe 😀"),
        ("\\", "\\"),
        ("\\.", "\\."),
        ("\\u0041", "\\u0041"),
        ("\n", "\n"),
        ("\x00", "\x00"),
        ("\ud800", "\\ud800"),
        ("name\udfff", "name\\udfff"),
        ("runId", "runId"),
    ],
)
def test_any_key_is_pointed_at_as_it_is_spelled(key: str, spelled: str) -> None:
    """RFC 6901; but a lone surrogate, which no log or terminal can be given, is shown as its escape."""
    event = changed(whole(), ("run", "facets"), {key: 1})
    assert violations(event) == [Violation(f"/run/facets/{spelled}", "type", "must be an object")]


def test_keys_that_differ_in_a_surrogate_only_are_each_judged() -> None:
    """Also from one that spells its escape out, and from one with the character that often replaces it."""
    keys = ["\ud800", "\ud801", "\\ud800", "?", "\ufffd", "\\.\\ud800"]
    for broken in keys:
        facets = {key: 1 if key == broken else _facets()["f"] for key in keys}
        assert len(violations(changed(whole(), ("run", "facets"), facets))) == 1
    assert len(violations(changed(whole(), ("run", "facets"), dict.fromkeys(keys, 1)))) == len(keys)


def test_a_hostile_key_cannot_make_a_pointer_long() -> None:
    found = violations(changed(whole(), ("run", "facets"), {"k" * 200_000: {}}))
    assert [len(one.path) for one in found] == [513, 513]
    assert found[0].path.endswith("k…")


@pytest.mark.parametrize(("key", "cut"), [("a…", False), ("k" * 499 + "…", True)])
def test_a_key_with_an_ellipsis_is_not_taken_for_a_cut_one(key: str, cut: bool) -> None:  # noqa: FBT001 - a column
    """What is missing below it is named, or cut off, like below any other."""
    found = violations(changed(whole(), ("run", "facets"), {key: {"_producer": URI}}))
    pointer = f"/run/facets/{key}"
    assert [one.path for one in found] == [f"{pointer}…" if cut else f"{pointer}/_schemaURL"]


@pytest.mark.parametrize(
    ("path", "value", "rules"),
    [
        (("job", "name"), "\ud800", []),
        (("note\ud800",), "\udfff", []),
        (("run", "facets", "f", "value"), {"\ud800": "\ud800"}, []),
        (("run", "facets", "\ud800"), {"_producer": URI, "_schemaURL": URI}, []),
        (("run", "facets", "\ud800"), {"_producer": URI}, ["required"]),
        (("producer",), f"{URI}\ud800", ["format"]),
        (("eventTime",), "2025-06-15T12:00:00Z\ud800", ["format"]),
        (("run", "runId"), "\ud800", ["format"]),
        (("eventType",), "START\ud800", ["enum"]),
        (("inputs",), "\ud800", ["type"]),
    ],
)
def test_a_lone_surrogate_neither_breaks_nor_mends_an_event(path: Path, value: object, rules: list[str]) -> None:
    """The validator raises for one; what it would have said is said."""
    found = violations(changed(whole(), path, value))
    assert [one.rule for one in found] == rules
    json.dumps([one.path for one in found], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("time", "can_be"),
    [
        ("2016-12-31T23:59:60Z", True),
        ("2016-12-31t23:59:60z", True),
        ("2016-12-31T23:59:60.25Z", True),
        ("2016-12-31T23:59:60+00:00", True),
        ("2016-12-31T23:59:60-00:00", True),
        ("2025-06-30T23:59:60Z", True),
        ("2025-02-28T23:59:60Z", True),
        ("2024-02-29T23:59:60Z", True),
        ("2016-12-31T18:59:60-05:00", True),
        ("2017-01-01T08:59:60+09:00", True),
        ("2017-01-01T05:29:60+05:30", True),
        ("2025-06-15T23:59:60Z", False),
        ("2025-06-15t23:59:60.5z", False),
        ("2025-06-01T23:59:60Z", False),
        ("2024-02-28T23:59:60Z", False),
        ("2025-06-01T23:59:60+00:00", False),
        ("2025-06-01T18:59:60-05:00", False),
        ("2025-06-15T18:59:60-05:00", False),
        ("2016-12-31T08:59:60+09:00", False),
        ("2025-06-15T08:59:60+09:00", False),
        ("2016-12-31T23:59:60-05:00", False),
        ("2016-12-31T22:59:60Z", False),
        ("2016-12-31T23:58:60Z", False),
        ("2016-12-31T23:59:61Z", False),
        ("2016-13-31T23:59:60Z", False),
        ("2016-00-31T23:59:60Z", False),
        ("2016-12-99T23:59:60Z", False),
        ("2016-12-31T23:59:60", False),
        ("2016-12-31T23:59:60Z ", False),
    ],
)
def test_a_leap_second_ends_a_month_in_utc(time: str, can_be: bool) -> None:  # noqa: FBT001 - a table's column
    """RFC 3339 section 5.7."""
    found = violations(changed(whole(), ("eventTime",), time))
    assert found == ([] if can_be else [Violation("/eventTime", "format", A_DATE_TIME)])


def test_what_is_right_stays_so_beside_what_is_wrong() -> None:
    event = changed(changed(whole(), ("job", "facets", "f", "_deleted"), value=True), ("producer",), DROPPED)
    assert [one.path for one in violations(event)] == ["/producer"]


def test_a_misplaced_leap_second_is_one_violation_among_others() -> None:
    event = changed(changed(whole(), ("eventTime",), "2025-06-15T23:59:60Z"), ("producer",), DROPPED)
    assert [one.path for one in violations(event)] == ["/producer", "/eventTime"]


@pytest.mark.parametrize("time", [None, 1, ["2025-06-15T23:59:60Z"]])
def test_only_text_is_looked_at_for_a_leap_second(time: object) -> None:
    assert [one.rule for one in violations(changed(whole(), ("eventTime",), time))] == ["type"]


def _deep(brackets: str) -> object:
    value: object = 1
    for _ in range(DEEP):
        value = [value] if brackets == "[]" else {"a": value}
    return value


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize(
    ("path", "rule"),
    [
        (("note",), None),
        (("run", "facets", "f", "value"), None),
        (("run", "facets", "f", "_producer"), "type"),
        (("eventTime",), "type"),
        (("eventType",), "enum"),
        (("job", "namespace"), "type"),
    ],
)
def test_deep_nesting_neither_crashes_nor_hides_a_rule(path: Path, rule: str | None, brackets: str) -> None:
    found = violations(changed(whole(), path, _deep(brackets)))
    assert [(one.path, one.rule) for one in found] == ([(_pointer(path), rule)] if rule else [])


@pytest.mark.parametrize(
    ("path", "brackets", "found"),
    [
        (("run",), "[]", ["type"]),
        (("run",), "{}", ["required"]),
        (("job",), "{}", ["required", "required"]),
        (("inputs",), "[]", ["type"]),
        (("inputs",), "{}", ["type"]),
        (("run", "facets"), "{}", ["required", "required"]),
        (("run", "facets", "f"), "[]", ["type"]),
        (("run", "facets", "f"), "{}", ["required", "required"]),
    ],
)
def test_what_is_deep_where_an_object_belongs_is_judged_by_its_surface(
    path: Path, brackets: str, found: list[str]
) -> None:
    assert [one.rule for one in violations(changed(whole(), path, _deep(brackets)))] == found


def test_thousands_of_violations_are_all_named_in_order() -> None:
    facets: dict[str, object] = {f"f{number}": {} for number in range(5_000)}
    found = violations(changed(whole(), ("job", "facets"), facets))
    expected = [f"/job/facets/{name}/{key}" for name in facets for key in ("_producer", "_schemaURL")]
    assert [one.path for one in found] == expected


def test_a_message_never_tells_what_was_found() -> None:
    for path, value, _, _ in BROKEN:
        event = changed(whole(), path, "SECRET" if isinstance(value, str) else value)
        assert "SECRET" not in repr(violations(event))
    assert "SECRET" not in repr(violations({"run": "SECRET", "job": {"name": ["SECRET"]}, "inputs": ["SECRET"]}))
