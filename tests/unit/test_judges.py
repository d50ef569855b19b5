"""A second opinion: jsonschema, in pure Python, judges as the adapter does, by our schema and by the official one.

Where the two libraries disagree on a format, FORMATS holds the RFC's answer, and it is the adapter's.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from adapter.spec import violations
from tests.sample import valid
from tests.unit.test_spec import DROPPED, changed, whole

if TYPE_CHECKING:
    from jsonschema import ValidationError

    from tests.unit.test_spec import Path as Location

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
OURS = ROOT / "schemas" / "openlineage-2-0-2.json"
# Neither is part of this repository; where they lie beside it, they are held against it.
OFFICIAL = SHARED / "spec" / "OpenLineage.json"
CORPUS = SHARED / "corpus"

DATE_TIME, URI, UUID = ("eventTime",), ("producer",), ("run", "runId")

# (place of that format, text, the RFC's answer, whether jsonschema with the rfc validators gives it too).
FORMATS: list[tuple[Location, str, bool, bool]] = [
    # RFC 3339 section 5.6: the grammar. T and Z may be lower case (5.6, note); the fraction is of any length.
    (DATE_TIME, "2025-06-15T12:00:00Z", True, True),
    (DATE_TIME, "2025-06-15t12:00:00z", True, True),
    (DATE_TIME, "2025-06-15T12:00:00.5z", True, True),
    (DATE_TIME, "2025-06-15T12:00:00.123456789012345Z", True, True),
    (DATE_TIME, "2025-06-15T12:00:00+23:59", True, True),
    (DATE_TIME, "2025-06-15T12:00:00-00:00", True, True),
    (DATE_TIME, "2025-06-15T12:00:00", False, True),
    (DATE_TIME, "2025-06-15T12:00Z", False, True),
    (DATE_TIME, "2025-06-15 12:00:00Z", False, True),
    (DATE_TIME, "2025-06-15_12:00:00Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00.Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00,5Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00+0000", False, True),
    (DATE_TIME, "2025-06-15T12:00:00+00", False, True),
    (DATE_TIME, "2025-06-15T12:00:00+24:00", False, True),
    (DATE_TIME, "2025-06-15T12:00:00-24:00", False, True),
    (DATE_TIME, "2025-06-15T12:00:00+14:60", False, True),
    (DATE_TIME, "2025-06-15T24:00:00Z", False, True),
    (DATE_TIME, "2025-06-15T23:60:00Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00ZZ", False, True),
    (DATE_TIME, "2025-06-15T12:00:00Z[UTC]", False, True),
    (DATE_TIME, " 2025-06-15T12:00:00Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00Z ", False, True),
    (DATE_TIME, "2025-06-15T12:00:00Z\n", False, False),
    (DATE_TIME, "2025-06-15T12:00:00\x00Z", False, True),
    (DATE_TIME, "2025-06-15T1\u0661:00:00Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:00\u221205:00", False, True),
    (DATE_TIME, "2025-06-15T12:00:00\ud800Z", False, True),
    (DATE_TIME, "2025-6-15T12:00:00Z", False, True),
    (DATE_TIME, "20250615T120000Z", False, True),
    (DATE_TIME, "2025-W24-7T12:00:00Z", False, True),
    (DATE_TIME, "2025-166T12:00:00Z", False, True),
    (DATE_TIME, "", False, True),
    # Section 5.7: the days of a month, and leap seconds.
    (DATE_TIME, "2024-02-29T00:00:00Z", True, True),
    (DATE_TIME, "2000-02-29T00:00:00Z", True, True),
    (DATE_TIME, "2025-02-29T00:00:00Z", False, True),
    (DATE_TIME, "1900-02-29T00:00:00Z", False, True),
    (DATE_TIME, "2025-04-31T00:00:00Z", False, True),
    (DATE_TIME, "2025-13-01T00:00:00Z", False, True),
    (DATE_TIME, "2025-00-01T00:00:00Z", False, True),
    (DATE_TIME, "2025-01-00T00:00:00Z", False, True),
    (DATE_TIME, "2016-12-31T23:59:60Z", True, False),
    (DATE_TIME, "2016-12-31T23:59:60.5Z", True, False),
    (DATE_TIME, "2016-12-31T18:59:60-05:00", True, False),
    (DATE_TIME, "2017-01-01T08:59:60+09:00", True, False),
    (DATE_TIME, "0000-12-31T23:59:60Z", True, False),
    (DATE_TIME, "2025-06-15T23:59:60Z", False, True),
    (DATE_TIME, "2025-06-15T12:00:60Z", False, True),
    (DATE_TIME, "2016-12-31T23:59:60-05:00", False, True),
    (DATE_TIME, "2016-12-31T22:59:60Z", False, True),
    (DATE_TIME, "2016-12-31T23:59:61Z", False, True),
    # Section 1: years 0000 to 9999, also where UTC's year is beyond.
    (DATE_TIME, "0000-01-01T00:00:00Z", True, False),
    (DATE_TIME, "0000-02-29T00:00:00Z", True, False),
    (DATE_TIME, "0000-01-01T00:00:00+01:00", True, False),
    (DATE_TIME, "0001-01-01T00:00:00+01:00", True, True),
    (DATE_TIME, "9999-12-31T23:59:59-01:00", True, True),
    (DATE_TIME, "10000-01-01T00:00:00Z", False, True),
    (DATE_TIME, "-001-01-01T00:00:00Z", False, True),
    # RFC 4122 section 3: hexadecimal digits of either case in five groups; draft 2020-12 asks for no version.
    (UUID, "3f5e83fa-3480-44ff-99c5-ff943904e5e8", True, True),
    (UUID, "3F5E83FA-3480-44FF-99C5-FF943904E5E8", True, True),
    (UUID, "00000000-0000-0000-0000-000000000000", True, True),
    (UUID, "3f5e83fa-3480-94ff-09c5-ff943904e5e8", True, True),
    (UUID, "3f5e83fa348044ff99c5ff943904e5e8", False, True),
    (UUID, "{3f5e83fa-3480-44ff-99c5-ff943904e5e8}", False, True),
    (UUID, "urn:uuid:3f5e83fa-3480-44ff-99c5-ff943904e5e8", False, True),
    (UUID, "3f5e83f-a3480-44ff-99c5-ff943904e5e8", False, True),
    (UUID, "3f5e83fa-3480-44ff-99c5-ff943904e5eg", False, True),
    (UUID, "3f5e83fa-3480-44ff-99c5-ff943904e5e8\n", False, True),
    (UUID, "0x5e83fa-3480-44ff-99c5-ff943904e5e8", False, False),
    (UUID, "+f5e83fa-3480-44ff-99c5-ff943904e5e8", False, False),
    (UUID, "3_5e83fa-3480-44ff-99c5-ff943904e5e8", False, False),
    (UUID, " f5e83fa-3480-44ff-99c5-ff943904e5e8", False, False),
    (UUID, "\u0663f5e83fa-3480-44ff-99c5-ff943904e5e8", False, False),
    (UUID, "", False, True),
    # RFC 3986 section 3: a scheme is what makes it a URI; everything after the colon may be empty.
    (URI, "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/client/python", True, True),
    (URI, "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent", True, True),
    (URI, "urn:retail:orders", True, True),
    (URI, "mailto:data@retail.example", True, True),
    (URI, "jdbc:postgresql://host/db?a=b", True, True),
    (URI, "s3a://bucket_1/key", True, True),
    (URI, "a+b-c.d:", True, True),
    (URI, "http://", True, True),
    (URI, "file:///tmp", True, True),
    (URI, "//host/path", False, True),
    (URI, "/path", False, True),
    (URI, "path", False, True),
    (URI, "", False, True),
    (URI, "1a:b", False, True),
    (URI, "ht_tp://host", False, True),
    # Section 2: what is not ASCII or not unreserved is percent-encoded; RFC 3987's IRIs are another format.
    (URI, "http://host/a%20b", True, True),
    (URI, "http://host/!$&'()*+,;=:@~", True, True),
    (URI, "http://host/a b", False, True),
    (URI, " http://host", False, True),
    (URI, "http://host ", False, True),
    (URI, "http://host\n", False, False),
    (URI, "http://host/\t", False, True),
    (URI, "http://host/\x00", False, True),
    (URI, "http://host/\x7f", False, True),
    (URI, "http://höst/", False, True),
    (URI, "http://host/größe", False, True),
    (URI, "http://host/\ud800", False, True),
    (URI, "http://host/%zz", False, True),
    (URI, "http://host/%2", False, True),
    (URI, "http://host/?%", False, True),
    (URI, "http://host/#%", False, True),
    (URI, "http://host/<x>", False, True),
    (URI, "http://host/{x}", False, True),
    (URI, "http://host/[x]", False, True),
    (URI, "http://host/?q=[1]", False, True),
    (URI, 'http://host/"', False, True),
    (URI, "http://host/|", False, True),
    (URI, "http://host/^", False, True),
    (URI, "http://host/`", False, True),
    (URI, "http://host\\path", False, True),
    (URI, "http://host/#a#b", False, True),
    # Section 3.2: the authority.
    (URI, "http://user:pass@host:8080/", True, True),
    (URI, "http://host:/", True, True),
    (URI, "http://host:99999/", True, True),
    (URI, "http://1.2.3.256/", True, True),
    (URI, "http://host:port/", False, True),
    (URI, "http://host:80:80/", False, True),
    (URI, "http://a@b@host/", False, True),
    (URI, "http://[::1]:80/", True, True),
    (URI, "http://[1:2:3:4:5:6:7::]/", True, True),
    (URI, "http://[::1.2.3.4]/", True, True),
    (URI, "http://[v1.a:b]/", True, True),
    (URI, "http://[V1.a]/", True, False),
    (URI, "http://[::1", False, True),
    (URI, "http://[1::2::3]/", False, True),
    (URI, "http://[::12345]/", False, True),
    (URI, "http://[::01.2.3.4]/", False, False),
    (URI, "http://[::1.2.3.04]/", False, False),
    (URI, "http://[::1:02]/", True, True),
    (URI, "http://[fe80::1%25en0]/", False, True),
    (URI, "http://[v1.]/", False, True),
]

_plain = FormatChecker(["date-time", "uri", "uuid"])
_settled = FormatChecker([])


@_settled.checks("uuid")
def _is_uuid(text: object) -> bool:
    return not isinstance(text, str) or bool(re.fullmatch(r"[0-9A-Fa-f-]*", text) and _plain.conforms(text, "uuid"))


@_settled.checks("uri")
def _is_uri(text: object) -> bool:
    if not isinstance(text, str):
        return True
    # jsonschema takes the v of an IPvFuture in lower case only, and a zero before the digits of an IPv4 address.
    if "\n" in text or re.search(r"\[[^]]*:(?=[0-9]*\.[0-9.]*])(?:[0-9]+\.)*0[0-9]", text):
        return False
    return _plain.conforms(text.replace("[V", "[v"), "uri")


@_settled.checks("date-time")
def _is_date_time(text: object) -> bool:
    if not isinstance(text, str):
        return True
    # The calendar repeats after 400 years, and jsonschema's has no year 0000 and no end of 9999.
    text = re.sub(r"^[0-9]{4}(?=-)", lambda year: f"{2000 + int(year[0]) % 400}", text)
    second_before = text[:17] + "59" + text[19:]
    if "\n" in text or not _plain.conforms(second_before, "date-time"):
        return False
    return second_before == text or _plain.conforms(text, "date-time") or _ends_a_month(text, second_before)


def _ends_a_month(text: str, second_before: str) -> bool:
    if text[17:19] != "60":
        return False
    without_fraction = re.sub(r"\.[0-9]+", "", second_before.upper())
    next_second = datetime.fromisoformat(without_fraction) + timedelta(seconds=1)
    utc = (next_second - (next_second.utcoffset() or timedelta())).replace(tzinfo=None)
    return utc == datetime(utc.year, utc.month, 1)  # noqa: DTZ001 - both are UTC, written without saying so


@cache
def _document(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_bytes()))


@cache
def _judge(path: Path, root: str = "#/$defs/RunEvent", formats: FormatChecker = _settled) -> Draft202012Validator:
    return Draft202012Validator({"$ref": root, "$defs": _document(path)["$defs"]}, format_checker=formats)


@pytest.mark.parametrize(("place", "text", "answer", "agreed"), FORMATS)
def test_a_format_is_what_its_rfc_says(place: Location, text: str, answer: bool, agreed: bool) -> None:  # noqa: FBT001 - a table's columns
    """The adapter, and the judge settled for the tests below; jsonschema's own checks, where the table says so."""
    event = changed(whole(), place, text)
    assert [one.rule for one in violations(event)] == ([] if answer else ["format"])
    assert _judge(OURS).is_valid(event) is answer
    assert (_judge(OURS, formats=_plain).is_valid(event) is answer) is agreed


def _pointer(path: Location) -> str:
    pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
    return pointer.encode("utf-8", "backslashreplace").decode()


def _rules(error: ValidationError) -> set[tuple[Location, str]]:
    """Say where which rule is broken; jsonschema names the missing key in its message only."""
    path = tuple(error.absolute_path)
    if error.validator != "required":
        return {(path, str(error.validator))}
    required, found = cast("list[str]", error.validator_value), cast("dict[str, object]", error.instance)
    return {((*path, key), "required") for key in required if key not in found}


def _locations(value: object, levels: int = 6, path: Location = ()) -> list[Location]:
    """List what there is down to a level below the schema's last, in document order."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [inner for key, part in parts if levels for inner in _locations(part, levels - 1, (*path, key))]
    return [path, *below]


def _real_events() -> list[Any]:
    """Parse the valid samples and, where it is present, the corpus."""
    files = [*valid(), *sorted(CORPUS.glob("*.json"))]
    return [json.loads(file.read_bytes()) for file in files]


REAL = _real_events()
_WORDS = [
    "run",
    "job",
    "dataset",
    "inputs",
    "facets",
    "_producer",
    "_deleted",
    "eventType",
    "f",
    "",
    "0",
    "~/",
    "\ud800",
]
_VALUES: st.SearchStrategy[object] = st.one_of(
    st.sampled_from(
        [None, True, False, 0, -1, 1.5, 10**30, "", "START", "text", "\ud800", [], {}, [[]], [{}], {"f": {}}]
    ),
    st.sampled_from([text for _, text, _, _ in FORMATS]),
    st.sampled_from([[whole()["inputs"][0]], whole()["run"], whole()["job"], whole()["job"]["facets"]]),
)
_CHARACTERS = st.sampled_from("0123456789abcdefABCDEFgTtZz:.+-/#?%@[]\\_~ \n\u00e9\u0661\ud800")


def _misspelled(draw: st.DrawFn, text: str) -> str:
    """Change, add or drop one character."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 1)))
    return text[:start] + draw(st.just("") | _CHARACTERS) + text[end:]


def _mutated(draw: st.DrawFn, event: object) -> object:
    path = draw(st.sampled_from(_locations(event)))
    found = reduce(lambda place, key: place[key], path, cast("Any", event))
    if isinstance(found, str) and draw(st.booleans()):
        value: object = _misspelled(draw, found)
    elif isinstance(found, dict) and draw(st.booleans()):
        value = found | {draw(st.sampled_from(_WORDS)): draw(_VALUES)}
    else:
        value = draw(st.just(DROPPED) | _VALUES)
    if path:
        return changed(cast("dict[str, Any]", event), path, value)
    return event if value is DROPPED else value


@st.composite
def _mutants(draw: st.DrawFn) -> object:
    """Take a real event and change a place or a few: drop, replace, misspell, add."""
    event: object = draw(st.sampled_from(REAL))
    for _ in range(draw(st.integers(1, 3))):
        event = _mutated(draw, event)
    return event


@given(_mutants())
@settings(max_examples=2_000)
def test_another_validator_finds_the_same_in_mutated_events(event: object) -> None:
    """By our schema: the same places and rules, each once. By the official one, where present: the same verdict."""
    _agree_on(event)


def test_another_validator_finds_the_same_in_real_events() -> None:
    for event in REAL:
        _agree_on(event)


def _agree_on(event: object) -> None:
    found = [(one.path, one.rule) for one in violations(event)]
    second = {(_pointer(path), rule) for error in _judge(OURS).iter_errors(event) for path, rule in _rules(error)}
    assert len(found) == len(second)
    assert set(found) == second
    assert _in_document_order(found, event)
    if OFFICIAL.exists():
        assert _judge(OFFICIAL).is_valid(event) is (not found)


def _in_document_order(found: list[tuple[str, str]], event: object) -> bool:
    numbers = {_pointer(path): number for number, path in enumerate(_locations(event))}
    places = [numbers[path.rpartition("/")[0] if rule == "required" else path] for path, rule in found]
    return places == sorted(places)


@st.composite
def _any_kind(draw: st.DrawFn) -> object:
    """Make of a mutant what may be a DatasetEvent or a JobEvent."""
    event = draw(_mutants())
    if not isinstance(event, dict):
        return event
    dropped = draw(st.sampled_from([(), ("run",), ("job",), ("run", "job")]))
    datasets = [dataset for key in ("inputs", "outputs") if isinstance(event.get(key), list) for dataset in event[key]]
    added = draw(st.sampled_from([{}, *({"dataset": dataset} for dataset in datasets)]))
    return {key: value for key, value in event.items() if key not in dropped} | added


@pytest.mark.skipif(not OFFICIAL.exists(), reason="the official schema does not lie beside this repository")
@given(_any_kind())
@settings(max_examples=500)
def test_the_official_schema_says_the_same_of_every_kind(event: object) -> None:
    """Also of those that the adapter does not take."""
    for kind in ("RunEvent", "DatasetEvent", "JobEvent"):
        root = f"#/$defs/{kind}"
        assert _judge(OURS, root).is_valid(event) is _judge(OFFICIAL, root).is_valid(event)
