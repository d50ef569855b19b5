"""A producer that may write to some job namespaces tries to write to others."""

from __future__ import annotations

import json
import time

import pytest

from adapter.doors.http import BATCH_PATH
from adapter.model import Access
from adapter.producers import fits
from tests.fakes import run_event
from tests.hostile.bodies import envelope
from tests.hostile.door import Door

THEIRS = ["retail", "retail-*", "a?c", "[x]"]
OTHERS = [
    "finance",
    "Retail",
    "retail ",
    " retail",
    "retail\n",
    "retail\x00",
    "retail/finance",
    "xretail-1",
    "finance\nretail-1",
    "\uff52etail",
    "ret\u0430il",  # its a is Cyrillic
    "retail\u200b",
    "retail\u2010x",  # a hyphen, and another one
    "ac",
    "abbc",
    "x",
    "*",
    "",
]


def _as_producer(raw: bytes, path: str) -> dict[str, object]:
    context = {"authorizer": {"producer": "shop", "namespaces": json.dumps(THEIRS)}}
    return envelope(raw, path) | {"requestContext": context}


@pytest.mark.parametrize("namespace", OTHERS, ids=ascii)
def test_no_likeness_of_a_namespace_is_let_through(namespace: str) -> None:
    door = Door(Access.TOKENS)
    raw = run_event(job={"namespace": namespace, "name": "orders"})
    answer = door.knock(_as_producer(raw, "/lineage"))
    assert (answer["statusCode"], json.loads(answer["body"])["code"]) == (403, "namespace_not_allowed")
    assert door.lineage.given == []
    assert [one.raw for one, _ in door.quarantine.kept] == [raw], "it is kept, and whose it is"
    assert [one.producer for one, _ in door.quarantine.kept] == ["shop"]


def test_in_a_batch_each_element_is_judged_and_a_parents_namespace_lends_nothing() -> None:
    door = Door(Access.TOKENS)
    parent: dict[str, object] = {"_producer": "https://x.example/1", "_schemaURL": "https://x.example/1.json"}
    parent |= {"job": {"namespace": "retail", "name": "orders"}}
    own, other = run_event(1), run_event(2, job={"namespace": "finance", "name": "orders"}, parent=parent)
    answer = door.knock(_as_producer(b"[" + own + b"," + other + b"]", BATCH_PATH))
    failed = json.loads(answer["body"])["failed_events"]
    assert [(one["index"], one["reason"].split(":")[0]) for one in failed] == [(1, "namespace_not_allowed")]
    assert [event.raw for event in door.lineage.given] == [own]


def test_a_pattern_takes_no_more_than_a_moment_whatever_it_is_held_against() -> None:
    began = time.process_time()
    assert not fits("a" * 250_000, ["*a" * 50 + "b", "?*" * 50 + "b", "*a*a*a*a*b"])
    assert time.process_time() - began < 2.0
