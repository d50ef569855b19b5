"""What `accept` says of one event's bytes."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.accept import accept
from adapter.model import MAX_ERRORS, Code, FormatAssertion, Job, Rejected, RunEvent, Violation
from tests.fakes import run_event

GOOD = run_event()


def _event(**more: object) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(run_event(**more))  # type: ignore[arg-type]  # members of the event, not `run`
    return loaded


def _refused(raw: bytes, code: Code) -> Rejected:
    verdict = accept(raw)
    assert isinstance(verdict, Rejected), verdict
    assert verdict.code is code
    return verdict


def _padded(size: int) -> bytes:
    return run_event(padding="x" * (size - len(run_event(padding=""))))


def test_a_run_event_is_accepted_with_its_own_bytes() -> None:
    raw = b"\r\n " + GOOD + b"\n"
    assert accept(raw) == RunEvent(
        raw=raw,
        run_id="00000000-0000-4000-8000-000000000001",
        job=Job("retail", "orders.daily"),
        event_type="COMPLETE",
        client_token=sha256(json.dumps(json.loads(GOOD), sort_keys=True).encode()).hexdigest(),
    )


def test_an_event_without_event_type_is_accepted() -> None:
    """The specification does not require one."""
    event = _event()
    del event["eventType"]
    verdict = accept(json.dumps(event).encode())
    assert isinstance(verdict, RunEvent)
    assert verdict.event_type is None


def test_300_000_bytes_are_accepted() -> None:
    raw = _padded(300_000)
    assert len(raw) == 300_000
    assert isinstance(accept(raw), RunEvent)


def test_300_001_bytes_are_too_large() -> None:
    raw = _padded(300_001)
    assert len(raw) == 300_001
    assert "300001 bytes; DataZone takes 300000" in _refused(raw, Code.TOO_LARGE).detail


@pytest.mark.parametrize(
    "raw", [GOOD[:50] + b"\xff" + GOOD[50:], b"\xed\xa0\x80", b"\xc0\xaf", GOOD.decode().encode("utf-16")]
)
def test_what_is_not_utf8_is_refused(raw: bytes) -> None:
    _refused(raw, Code.NOT_UTF8)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        GOOD[:-1],
        GOOD + b"x",
        GOOD + GOOD,
        GOOD.decode().encode("utf-16-le"),
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a": "\t"}',
        b'{"a": 01}',
        b'{"a": .5}',
        b'{"a": "\\x"}',
    ],
)
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    _refused(raw, Code.NOT_JSON)


def test_a_byte_order_mark_is_refused_and_named() -> None:
    assert "byte order mark" in _refused(b"\xef\xbb\xbf" + GOOD, Code.NOT_JSON).detail


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 4301])
def test_a_number_that_json_or_a_double_does_not_have_is_refused(number: str) -> None:
    """`json.loads` reads the first five as numbers, and two events with different ones would share a token."""
    raw = GOOD[:-1] + b', "x": ' + number.encode() + b"}"
    assert "number out of range" in _refused(raw, Code.NOT_JSON).detail


@pytest.mark.parametrize("number", ["1e308", "1e-999", "-0", "1" * 4300, "123456789012345678901234567890"])
def test_an_unusual_number_is_accepted(number: str) -> None:
    assert isinstance(accept(GOOD[:-1] + b', "x": ' + number.encode() + b"}"), RunEvent)


@pytest.mark.parametrize("brackets", ["[]", "{}"])
@pytest.mark.parametrize("place", ["job", "inputs", "x"])
def test_nesting_that_exhausts_the_parser_is_refused(brackets: str, place: str) -> None:
    opened = '{"a":' if brackets == "{}" else "["
    deep = opened * 40_000 + "1" + brackets[1] * 40_000
    _refused(GOOD[:-1] + f', "{place}": {deep}}}'.encode(), Code.TOO_DEEP)


@pytest.mark.parametrize("raw", [b"[]", b"1", b'"text"', b"null", b"true", b"[" + GOOD + b"]"])
def test_json_that_is_no_object_is_refused(raw: bytes) -> None:
    _refused(raw, Code.NOT_AN_OBJECT)


@pytest.mark.parametrize(
    ("raw", "paths"),
    [
        (b'{"a": 1, "a": 1}', ["/a"]),
        (b'{"a": {"b~/c": 1, "b~/c": 2}}', ["/a/b~0~1c"]),
        (b'{"x": [0, {"k": 1, "k": "\\"", "l": 1, "l": 2}], "y": {"z": 1, "z": 1}}', ["/x/1/k", "/x/1/l", "/y/z"]),
        (b'{"\\u0061": 1, "a": 2}', ["/a"]),
        (b'{"a\\\\": "\\\\\\"", "a\\\\": "\\""}', ["/a\\"]),
        (b'{"": 1, "": 2}', ["/"]),
    ],
)
def test_a_repeated_key_is_refused_and_pointed_at(raw: bytes, paths: list[str]) -> None:
    assert [error.path for error in _refused(raw, Code.DUPLICATE_KEY).errors] == paths


def test_many_repeated_keys_are_reported_up_to_the_limit() -> None:
    raw = b"{" + b",".join(b'"%d":{"a":1,"a":2}' % number for number in range(80)) + b"}"
    assert len(_refused(raw, Code.DUPLICATE_KEY).errors) == MAX_ERRORS


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(_json)
def test_no_unrepeated_key_is_taken_for_a_repeated_one(value: object) -> None:
    for ascii_only in (True, False):
        raw = json.dumps({"x": value}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        verdict = accept(raw)
        assert isinstance(verdict, Rejected)
        assert verdict.code is not Code.DUPLICATE_KEY


@given(_json, _json, st.text(max_size=4))
def test_every_repeated_key_is_found(one: object, other: object, key: str) -> None:
    spelled = json.dumps(key)
    raw = f'{{"x": {{{spelled}: {json.dumps(one)}, {spelled}: {json.dumps(other)}}}}}'.encode()
    assert _refused(raw, Code.DUPLICATE_KEY).errors


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"dataset": {}}, "DatasetEvent"),
        ({"dataset": {}, "job": {}, "eventType": "START"}, "DatasetEvent"),
        ({"dataset": None}, "DatasetEvent"),
        ({"job": {}}, "JobEvent"),
        ({"job": None, "inputs": []}, "JobEvent"),
    ],
)
def test_other_kinds_are_told_what_they_are(event: dict[str, object], kind: str) -> None:
    refused = _refused(json.dumps(event).encode(), Code.UNSUPPORTED_KIND)
    assert refused.detail == f"a {kind}; DataZone takes run events only"


@pytest.mark.parametrize(
    "event", [{}, {"eventType": "START"}, {"job": {}, "eventType": "START"}, {"run": None}, {"run": {}, "dataset": {}}]
)
def test_what_looks_like_a_run_event_is_judged_as_one(event: dict[str, object]) -> None:
    _refused(json.dumps(event).encode(), Code.SCHEMA_VIOLATION)


def test_a_violation_is_pointed_at_without_its_value() -> None:
    event = _event()
    event["run"]["runId"] = "SECRET"
    event["run"]["facets"] = {"a/b": {"_producer": "SECRET://%%", "value": "SECRET"}}
    refused = _refused(json.dumps(event).encode(), Code.SCHEMA_VIOLATION)
    assert [(error.path, error.rule) for error in refused.errors] == [
        ("/run/runId", "format"),
        ("/run/facets/a~1b/_schemaURL", "required"),
        ("/run/facets/a~1b/_producer", "format"),
    ]
    assert "SECRET" not in repr(refused)
    assert "3 places" in refused.detail


def test_violations_are_reported_up_to_the_limit_and_counted_beyond_it() -> None:
    facets = {f"f{number:03}": {"_producer": "https://example.com"} for number in range(60)}
    event = _event()
    event["run"]["facets"] = facets
    refused = _refused(json.dumps(event).encode(), Code.SCHEMA_VIOLATION)
    assert len(refused.errors) == MAX_ERRORS == 50
    assert refused.errors[0].path == "/run/facets/f000/_schemaURL"
    assert "60 places, the first 50 of them shown" in refused.detail


def test_warn_lets_a_broken_format_through_and_says_so() -> None:
    raw = run_event(eventTime="2026-11-29T10:00:00")
    assert _refused(raw, Code.SCHEMA_VIOLATION).errors[0].path == "/eventTime"
    verdict = accept(raw, FormatAssertion.WARN)
    assert isinstance(verdict, RunEvent)
    assert [(warning.path, warning.rule) for warning in verdict.warnings] == [("/eventTime", "format")]


def test_warn_lets_nothing_but_a_broken_format_through() -> None:
    raw = run_event(eventTime="2026-11-29T10:00:00", inputs=None)
    verdict = accept(raw, FormatAssertion.WARN)
    assert isinstance(verdict, Rejected)
    assert Violation("/inputs", "type", "must be an array") in verdict.errors


def test_a_lone_surrogate_is_forwarded_as_it_is() -> None:
    """RFC 8259 section 8.2 lets the escape stand; its bytes are ASCII and DataZone gets them unchanged."""
    raw = GOOD[:-1] + b', "note": "\\ud800", "\\udfff": 1}'
    verdict = accept(raw)
    assert isinstance(verdict, RunEvent)
    assert verdict.raw == raw
    assert verdict.client_token == sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest()


def test_a_leap_second_that_cannot_be_is_refused() -> None:
    """RFC 3339 section 5.7: a leap second ends a month, in UTC."""
    refused = _refused(run_event(eventTime="2025-06-15T23:59:60Z"), Code.SCHEMA_VIOLATION)
    assert (refused.errors[0].path, refused.errors[0].rule) == ("/eventTime", "format")


def test_a_leap_second_that_can_be_is_accepted() -> None:
    assert isinstance(accept(run_event(eventTime="2016-12-31T23:59:60Z")), RunEvent)


@given(st.dictionaries(st.text(max_size=5).map("x".__add__), _json, max_size=5))
def test_the_token_is_the_formula(more: dict[str, object]) -> None:
    """Any Python emitter derives the same: sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()."""
    event = _event() | more
    verdict = accept(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
    assert isinstance(verdict, RunEvent)
    expected = json.loads(verdict.raw)
    assert verdict.client_token == sha256(json.dumps(expected, sort_keys=True).encode()).hexdigest()


def _shuffled(value: object, draw: st.DrawFn) -> object:
    if isinstance(value, dict):
        keys = draw(st.permutations(list(value)))
        return {key: _shuffled(value[key], draw) for key in keys}
    if isinstance(value, list):
        return [_shuffled(one, draw) for one in value]
    return value


@st.composite
def _spelled_twice(draw: st.DrawFn) -> tuple[bytes, bytes]:
    event = _event() | {"x": draw(_json)}
    spelled = json.dumps(event).encode()
    separators = draw(st.sampled_from([(",", ":"), (" ,\n", "\t: "), (",\r\n", " : ")]))
    return spelled, json.dumps(
        _shuffled(event, draw), separators=separators, indent=draw(st.sampled_from([None, 3]))
    ).encode()


@given(_spelled_twice())
def test_key_order_and_white_space_do_not_change_the_token(spelled: tuple[bytes, bytes]) -> None:
    one, other = (accept(raw) for raw in spelled)
    assert isinstance(one, RunEvent)
    assert isinstance(other, RunEvent)
    assert one.client_token == other.client_token


def _differ(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True)


@given(_json, _json)
def test_any_other_value_changes_the_token(one: object, other: object) -> None:
    if not _differ(one, other):
        return
    tokens = set()
    for value in (one, other):
        verdict = accept(run_event(x=value))
        assert isinstance(verdict, RunEvent)
        tokens.add(verdict.client_token)
    assert len(tokens) == 2


def test_a_zero_and_its_negative_are_other_values() -> None:
    assert math.copysign(1, -0.0) < 0
    one, other = accept(run_event(x=0.0)), accept(run_event(x=-0.0))
    assert isinstance(one, RunEvent)
    assert isinstance(other, RunEvent)
    assert one.client_token != other.client_token


@given(st.binary(max_size=200) | st.text().map(lambda text: text.encode("utf-8", "replace")))
def test_no_bytes_make_it_raise(raw: bytes) -> None:
    assert isinstance(accept(raw), Rejected)
