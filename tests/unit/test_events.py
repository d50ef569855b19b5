"""The sample events are what their index says they are, and the envelopes carry them unchanged."""

from __future__ import annotations

import base64
import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from adapter import kpl
from adapter.accept import accept
from adapter.batch import elements
from adapter.body import decompress
from adapter.doors import answers
from adapter.doors.gateway import request
from adapter.model import Code, Rejected, RunEvent
from tests.sample import EVENTS, index, invalid, padded, valid
from tools.envelopes import envelopes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema import ValidationError

ROOT = Path(__file__).parents[2]
SCHEMAS = [
    path
    for path in (ROOT / "schemas" / "openlineage-2-0-2.json", ROOT.parent / "shared" / "spec" / "OpenLineage.json")
    if path.exists()
]
EMITTERS = ["airflow", "dbt", "executor", "great_expectations", "handwritten", "spark"]

# rfc3339-validator knows no leap seconds; RFC 3339 section 5.7 does, and 2016 ended with one.
JUDGE_IS_WRONG = EVENTS / "handwritten" / "leap-second.json"

# What each envelope carries, in the order it comes out. None is a record that holds no event.
CARRIED: dict[str, list[str | None]] = {
    "http-v1.json": ["spark/complete"],
    "http-v1-gzip.json": ["executor/complete"],
    "http-v1-batch.json": ["dbt/model-complete", "invalid/naive-time", "dbt/test-complete"],
    "http-v2.json": ["airflow/start"],
    "kinesis.json": ["spark/start", "spark/complete", "invalid/naive-time", "executor/fail"],
    "kinesis-kpl.json": [
        "spark/application-start",
        "spark/start",
        "invalid/dataset-event",
        "spark/running",
        "spark/complete",
    ],
    "kinesis-poison.json": [None, None, "invalid/truncated", "executor/fail"],
}


def _name(path: Path) -> str:
    return path.relative_to(EVENTS).with_suffix("").as_posix()


def _shipped(envelope: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((EVENTS / "envelopes" / envelope).read_bytes())
    return parsed


def test_the_index_names_every_sample() -> None:
    samples = {f"{_name(path)}.json" for path in EVENTS.glob("*/*.json") if path.parent.name != "envelopes"}
    assert samples == set(index())
    assert sorted({path.parent.name for path in valid()}) == EMITTERS


@pytest.mark.parametrize("path", valid(), ids=_name)
def test_a_valid_sample_is_accepted_as_it_is(path: Path) -> None:
    """Its bytes untouched, its token the formula's."""
    raw = path.read_bytes()
    event = json.loads(raw)
    accepted = accept(raw)
    assert isinstance(accepted, RunEvent)
    assert accepted.raw == raw
    assert accepted.client_token == sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()
    assert (accepted.run_id, accepted.job.name) == (event["run"]["runId"], event["job"]["name"])
    assert "format" not in {warning.rule for warning in accepted.warnings}


@pytest.mark.parametrize("path", invalid(), ids=_name)
def test_an_invalid_sample_is_refused_as_expected(path: Path) -> None:
    """With its code, at its place, by its rule, and nothing else beside."""
    expected = index()[f"{_name(path)}.json"]
    refused = accept(path.read_bytes())
    assert isinstance(refused, Rejected)
    assert refused.code == expected.code
    places = [(error.path, error.rule) for error in refused.errors]
    assert places == ([(expected.path, expected.rule)] if expected.path else [])


@pytest.mark.parametrize("path", invalid(), ids=_name)
def test_the_index_and_the_http_door_agree_on_statuses(path: Path) -> None:
    expected = index()[f"{_name(path)}.json"]
    assert expected.code
    assert answers.STATUSES[Code(expected.code)][0] == expected.status


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.parent.name)
def test_another_validator_agrees(schema: Path) -> None:
    """By our schema and by the original: nothing in the valid samples, exactly the expected in the others."""
    judge = _judge(schema)
    expectations = index()
    for path in valid():
        if path != JUDGE_IS_WRONG:
            assert not list(judge.iter_errors(json.loads(path.read_bytes()))), path
    for path in invalid():
        expected = expectations[f"{_name(path)}.json"]
        if expected.code == Code.SCHEMA_VIOLATION:
            assert _places(judge, path) == {(expected.path, expected.rule)}, path
        if expected.code == Code.UNSUPPORTED_KIND:
            assert _places(judge, path), path


def _judge(schema: Path) -> Draft202012Validator:
    document = json.loads(schema.read_bytes())
    run_event = {"$ref": "#/$defs/RunEvent", "$defs": document["$defs"]}
    return Draft202012Validator(run_event, format_checker=FormatChecker())


def _places(judge: Draft202012Validator, path: Path) -> set[tuple[str, str]]:
    errors = judge.iter_errors(json.loads(path.read_bytes()))
    return {place for error in errors for cause in _causes(error) for place in _missing_or_wrong(cause)}


def _causes(error: ValidationError) -> Iterator[ValidationError]:
    """Look through `anyOf`, which the original wraps around every map of facets."""
    if not error.context:
        yield error
    for inner in error.context or ():
        yield from _causes(inner)


def _missing_or_wrong(error: ValidationError) -> Iterator[tuple[str, str]]:
    pointer = "".join(f"/{part}" for part in error.absolute_path)
    if error.validator == "required":
        # jsonschema reports each missing key by itself, but says which only in its message.
        yield f"{pointer}/{error.message.split("'")[1]}", "required"
    else:
        yield pointer, str(error.validator)


def test_a_sample_can_be_grown_to_the_very_byte() -> None:
    """300,000 bytes are an event and one more is too many."""
    sample = valid()[0].read_bytes()
    largest, too_large = padded(sample, 300_000), padded(sample, 300_001)
    assert (len(largest), len(too_large)) == (300_000, 300_001)
    assert isinstance(accept(largest), RunEvent)
    refused = accept(too_large)
    assert isinstance(refused, Rejected)
    assert refused.code is Code.TOO_LARGE
    with pytest.raises(ValueError, match="too large"):
        padded(sample, 1_000)


def test_the_envelopes_are_those_the_tool_writes() -> None:
    """Compared with gzip undone: its bytes are the compressing library's choice."""
    assert sorted(path.name for path in (EVENTS / "envelopes").iterdir()) == sorted(envelopes())
    for name, envelope in envelopes().items():
        assert _without_gzip(_shipped(name)) == _without_gzip(envelope), name


def _without_gzip(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {key: _without_gzip(child) for key, child in value.items() if key != "content-length"}
    if isinstance(value, list):
        return [_without_gzip(child) for child in value]
    if isinstance(value, str) and value.startswith("H4sI"):  # 1f 8b 08 in base64
        return _gunzipped(base64.b64decode(value))
    return value


def _gunzipped(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except EOFError:  # the sample that is torn on purpose
        return b"torn"


@pytest.mark.parametrize("envelope", CARRIED)
def test_an_envelope_carries_its_samples_bytes(envelope: str) -> None:
    """Opened as the doors open them."""
    carried = [name and (EVENTS / f"{name}.json").read_bytes() for name in CARRIED[envelope]]
    opened = list(_records(envelope) if envelope.startswith("kinesis") else _bodies(envelope))
    assert opened == carried


def _bodies(envelope: str) -> list[bytes]:
    asked = request(_shipped(envelope))
    body = decompress(asked.body, asked.content_encoding)
    assert isinstance(body, bytes)
    assert asked.method == "POST"
    return elements(body) if asked.path.endswith("/batch") else [body]


def _records(envelope: str) -> Iterator[bytes | None]:
    for record in _shipped(envelope)["Records"]:
        data = base64.b64decode(record["kinesis"]["data"])
        try:
            user_records = kpl.records(data) if kpl.is_aggregate(data) else [data]
        except kpl.BrokenAggregateError:
            user_records = [b"\x1f\x8b"]  # holds nothing, as a torn gzip does
        for user_record in user_records:
            opened = decompress(user_record)
            yield None if isinstance(opened, Rejected) else opened
