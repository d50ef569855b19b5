from __future__ import annotations

import base64
import gzip
import json

import pytest

from cli.failures import NotAFailureRecordError, events
from local.kpl import aggregate
from tests.fakes import run_event

ONE, TWO, THREE = (run_event(number) for number in (1, 2, 3))


def _payload(*data: bytes) -> dict[str, object]:
    return {"Records": [{"kinesis": {"data": base64.b64encode(one).decode()}} for one in data]}


def _record(*data: bytes) -> bytes:
    return json.dumps({"version": "1.0", "payload": json.dumps(_payload(*data))}).encode()


def test_each_event_is_given_with_its_exact_bytes_and_its_place() -> None:
    packed = aggregate([("a", TWO), ("b", gzip.compress(THREE))])
    assert events(_record(ONE, gzip.compress(TWO), packed)) == [("1", ONE), ("2", TWO), ("3.1", TWO), ("3.2", THREE)]


def test_the_payload_may_be_an_object_as_well() -> None:
    assert events(json.dumps({"payload": _payload(ONE)}).encode()) == [("1", ONE)]


@pytest.mark.parametrize(
    "broken",
    [aggregate([("a", ONE)])[:-1] + b"\0", gzip.compress(ONE)[:-5], b"\xff\x00", b""],
    ids=["aggregate", "gzip", "no text", "nothing"],
)
def test_what_cannot_be_undone_is_given_as_it_is(broken: bytes) -> None:
    assert events(_record(broken, ONE)) == [("1", broken), ("2", ONE)]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'{"payload": null}',
        b'{"payload": "{"}',
        b'{"payload": "{\\"Records\\": []}"}',
        b'{"payload": {"Records": [{"Sns": {}}]}}',
        b'{"payload": {"Records": [{"kinesis": {"data": "***"}}]}}',
        b'{"payload": {"Records": [{"kinesis": {"data": 1}}]}}',
        b"[" * 100_000,
    ],
)
def test_anything_else_is_no_failure_record(body: bytes) -> None:
    with pytest.raises(NotAFailureRecordError):
        events(body)
