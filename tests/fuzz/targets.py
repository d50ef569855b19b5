"""What must hold for any bytes at all, one function for each way in. Each raises AssertionError where it does not.

An exception that escapes from the adapter is a finding too: all of these promise not to raise.
"""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from hashlib import md5, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from jsonschema_rs import Draft202012Validator

from adapter import backlog, kpl
from adapter.accept import accept
from adapter.batch import MAX_ELEMENTS, NotAnArrayError, TooManyElementsError, elements
from adapter.body import MAX_BODY_BYTES, decompress, opened
from adapter.doors import answers
from adapter.model import MAX_ERRORS, Code, FormatAssertion, Received, Rejected, RunEvent, Source
from adapter.pointer import MAX_LENGTH
from adapter.size import MAX_EVENT_BYTES, too_large
from local.kpl import aggregate

if TYPE_CHECKING:
    from collections.abc import Callable

WARNINGS = {"format", "misplaced_facet", "misshapen_facet", "empty_schema", "unversioned_schema_url", "says_nothing"}
_DOCUMENT = json.loads((Path(__file__).parents[2] / "schemas" / "openlineage-2-0-2.json").read_bytes())
_RUN_EVENT = Draft202012Validator({"$ref": "#/$defs/RunEvent", "$defs": _DOCUMENT["$defs"]}, validate_formats=True)


def judge(data: bytes) -> None:
    """`accept` gives a verdict on anything, and a second reader of JSON and of the schema agrees with it."""
    strict, lenient = accept(data), accept(data, FormatAssertion.WARN)
    for verdict in (strict, lenient, too_large(data)):
        if isinstance(verdict, RunEvent):
            _is_an_event(verdict, data)
        else:
            _is_a_refusal(verdict)
    if isinstance(strict, RunEvent):
        assert strict == lenient
        assert _is_valid(json.loads(data)) is not False
    elif strict.code is Code.SCHEMA_VIOLATION:
        assert _is_valid(json.loads(data)) is not True or [one.path for one in strict.errors] == ["/eventTime"]
    elif strict.code is Code.DUPLICATE_KEY:
        assert _reads_once(data) is False


def _is_an_event(event: RunEvent, data: bytes) -> None:
    assert event.raw is data
    assert len(data) <= MAX_EVENT_BYTES
    said = json.loads(data)
    assert event.client_token == sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    assert (event.run_id, event.job.namespace, event.job.name) == (
        said["run"]["runId"],
        said["job"]["namespace"],
        said["job"]["name"],
    )
    assert {warning.rule for warning in event.warnings} <= WARNINGS
    assert len(event.warnings) <= MAX_ERRORS
    assert _reads_once(data) is not False


def _is_a_refusal(refused: Rejected) -> None:
    assert refused.code in Code
    assert len(refused.errors) <= MAX_ERRORS
    assert all(len(error.path) <= MAX_LENGTH + 1 for error in refused.errors)
    assert json.loads(answers.of(refused)["body"])["code"] == refused.code


def _is_valid(event: object) -> bool | None:
    try:
        return _RUN_EVENT.is_valid(event)
    except UnicodeEncodeError:
        return None  # a lone surrogate, which this reader cannot look at


def _reads_once(data: bytes) -> bool | None:
    """Read `data` by a parser hook, which sees each object's keys; None where it is nested too deeply for one."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(unique := dict(pairs)) < len(pairs):
            raise KeyError
        return unique

    try:
        json.loads(data.decode(), object_pairs_hook=once, parse_constant=_refuse)
    except KeyError:
        return False
    except RecursionError:
        return None
    return True


def _refuse(_: str) -> NoReturn:
    raise ValueError


def unpack(data: bytes) -> None:
    """`decompress` undoes gzip and nothing else, within its bound, and agrees with the standard library."""
    for encoding in ("", "gzip"):
        _is_unpacked(data, decompress(data, encoding))
        _is_unpacked(b"\x1f\x8b\x08" + data, decompress(b"\x1f\x8b\x08" + data, encoding))
    members = data.split(b"\n", 100)
    assert decompress(b"".join(gzip.compress(member, 1) for member in members)) == b"".join(members)


def _is_unpacked(data: bytes, plain: bytes | Rejected) -> None:
    if isinstance(plain, Rejected):
        assert plain.code in {Code.UNSUPPORTED_ENCODING, Code.TOO_LARGE}
        assert data.startswith(b"\x1f\x8b")
    elif data.startswith(b"\x1f\x8b"):
        assert len(plain) <= MAX_BODY_BYTES
        assert plain == gzip.decompress(data)
    else:
        assert plain == data


def disaggregate(data: bytes) -> None:
    """`kpl.records` takes apart what is whole, refuses the rest by name, and never gives more than there was."""
    for whole in (data, kpl.MAGIC + data, kpl.MAGIC + data + md5(data, usedforsecurity=False).digest()):
        if not kpl.is_aggregate(whole):
            continue
        try:
            records = kpl.records(whole)
        except kpl.BrokenAggregateError:
            continue
        assert sum(map(len, records)) <= len(whole)
        assert kpl.records(aggregate([("k", record) for record in records])) == records
    pieces = data.split(b"\n")
    packed = aggregate([(f"key {place % 3}", piece) for place, piece in enumerate(pieces)])
    assert kpl.records(packed) == pieces
    assert all(isinstance(opened(piece, Source.KINESIS), Received) for piece in pieces)


def slice_batch(data: bytes) -> None:
    """`elements` cuts slices of the original that, joined again, are the same array to a JSON parser, or none."""
    for raw in (data, b"[" + data + b"]"):
        try:
            pieces = elements(raw)
        except NotAnArrayError:
            assert not isinstance(_parsed(raw), list)
            continue
        except TooManyElementsError:
            assert raw.count(b",") >= MAX_ELEMENTS
            continue
        _are_slices(pieces, raw)
        assert _parsed(b"[" + b",".join(pieces) + b"]") == _parsed(raw)


def _are_slices(pieces: list[bytes], raw: bytes) -> None:
    at = 0
    for piece in pieces:
        at = raw.index(piece, at) + len(piece)
        assert piece == piece.strip(b" \t\n\r")
    assert len(pieces) <= MAX_ELEMENTS


def _parsed(raw: bytes) -> object:
    """Parse `raw`; None where it is no JSON. NaN equals itself here."""
    try:
        return json.loads(raw.decode(), parse_constant=str)
    except (ValueError, RecursionError):
        return None


def take_back(data: bytes) -> None:
    """`backlog.received` gives back what `message` wrote, and takes any other text as it is, with a time it came."""
    text = data.decode("utf-8", "surrogateescape")
    written = backlog.message(Received(data, Source.HTTP, text, 1_764_410_000.25), "token")
    assert backlog.received(written) == Received(data, Source.HTTP, text, 1_764_410_000.25, waited=True)
    _is_readable(backlog.received(text), text)
    parsed = _parsed(data)
    if isinstance(parsed, dict):
        hostile = json.dumps(json.loads(written) | parsed)
        _is_readable(backlog.received(hostile), hostile)


def _is_readable(received: Received, text: str) -> None:
    assert received.waited
    assert isinstance(received.source, Source)
    assert received.producer is None or isinstance(received.producer, str)
    assert received.refused is None or received.refused.code in Code
    assert len(received.raw) <= max(MAX_BODY_BYTES, len(text) * 3)
    datetime.fromtimestamp(received.received_at, UTC)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "accept": judge,
    "body": unpack,
    "kpl": disaggregate,
    "batch": slice_batch,
    "backlog": take_back,
}
