"""A value that one parser sees and another does not: the same key twice, however it is spelled and wherever it is."""

from __future__ import annotations

import json

import pytest

from adapter.doors.http import BATCH_PATH
from tests.fakes import run_event
from tests.hostile.door import Door

# What is written behind `"job": {"namespace": "retail", "name": "orders.daily"` to smuggle in another one.
SPELLINGS = [
    '"job"',
    r'"\u006aob"',
    r'"j\u006Fb"',
    r'"\u006a\u006f\u0062"',
]
SMUGGLED = '{"namespace": "finance", "name": "payroll"}'
FACET = '{"_producer": "https://x.example/1", "_schemaURL": "https://x.example/1.json"%s}'


def _behind(text: str) -> bytes:
    return run_event()[:-1] + b", " + text.encode() + b"}"


NESTED = {
    "in a facet": _behind('"run2": ' + FACET % r', "a/b": 1, "a\/b": 2'),
    "in an array": _behind(r'"inputs": [{"namespace": "n", "name": "a", "\u006eame": "b"}]'),
    "beyond the first plane": _behind('"x": {"\U0001f600": 1, "\\ud83d\\ude00": 2}'),
    "the empty key": _behind('"x": {"": 1, "": 2}'),
    "beside quotation marks": _behind(r'"x": {"a": "\"", "b": "\\", "a": "\\\""}'),
}


@pytest.mark.parametrize("first", [True, False], ids=["the first is smuggled", "the last is smuggled"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_second_job_is_refused_and_goes_nowhere(spelling: str, first: bool) -> None:  # noqa: FBT001 - a table
    door = Door()
    second = f"{spelling}: {SMUGGLED}"
    raw = b"{" + second.encode() + b", " + run_event()[1:] if first else _behind(second)
    status, body = door.post(raw)
    assert (status, body["code"]) == (400, "duplicate_key")
    assert [(error["path"], error["rule"]) for error in body["errors"]] == [("/job", "unique_keys")]
    assert door.lineage.given == []
    assert "finance" not in json.dumps(body)


@pytest.mark.parametrize("name", NESTED)
def test_nor_further_down(name: str) -> None:
    door = Door()
    assert door.post(NESTED[name])[1]["code"] == "duplicate_key"
    assert door.lineage.given == []


def test_in_a_batch_it_is_refused_by_itself() -> None:
    door = Door()
    batch = b"[" + b",".join([run_event(1), *NESTED.values(), run_event(2)]) + b"]"
    _, body = door.post(batch, BATCH_PATH)
    assert [failed["index"] for failed in body["failed_events"]] == [1, 2, 3, 4, 5]
    assert {failed["reason"].split(":")[0] for failed in body["failed_events"]} == {"duplicate_key"}
    assert [event.raw for event in door.lineage.given] == [run_event(1), run_event(2)]


@pytest.mark.parametrize("key", ['"Job"', r'"job\u0000"', '"job "', r'"\uff4aob"'])
def test_what_only_looks_like_a_second_value_is_another_key(key: str) -> None:
    """And is not the job: what is judged is what the bytes say."""
    door = Door()
    assert door.post(_behind(f"{key}: {SMUGGLED}"))[0] == 200
    assert door.lineage.given[0].job.namespace == "retail"
