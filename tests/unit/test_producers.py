"""Who may write to what, and how the secret says so."""

from __future__ import annotations

import json
import time
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter import producers
from adapter.producers import MalformedError, Producer, Token, fits, holder

DIGEST = sha256(b"one").hexdigest()
SPARK = Producer("spark", ("retail", "retail-*"), (Token("00000001", DIGEST, 1, None),))
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.mark.parametrize(
    ("pattern", "namespace", "fit"),
    [
        ("retail", "retail", True),
        ("retail", "Retail", False),
        ("retail", "retail\n", False),
        ("retail", "retail.sales", False),
        ("retail*", "retail", True),
        ("*", "", True),
        ("*", "a/b\nc", True),
        ("s3://*/in", "s3://bucket/a/in", True),
        ("retail?", "retail", False),
        ("retail?", "retail1", True),
        ("[ab]", "a", False),
        ("[ab]", "[ab]", True),
        ("[!a]*", "[!a]b", True),
        ("a.c", "abc", False),
        ("(a|b)", "a", False),
    ],
)
def test_a_star_is_anything_a_question_mark_one_and_all_else_itself(pattern: str, namespace: str, *, fit: bool) -> None:
    assert fits(namespace, [pattern]) is fit


@given(TEXT)
def test_a_name_without_stars_fits_itself_and_nothing_longer(name: str) -> None:
    plain = name.replace("*", "").replace("?", "")
    assert fits(plain, [plain])
    assert not fits(f"{plain}x", [plain])


def test_no_pattern_fits_nothing() -> None:
    assert not fits("retail", [])


def test_a_pattern_full_of_stars_costs_no_time() -> None:
    """An emitter words the namespace; it must not be able to keep a lane busy with it."""
    began = time.process_time()
    assert not fits("a" * 100_000, ["*a" * 30 + "b"])
    assert time.process_time() - began < 1


def test_the_document_comes_back_as_it_was_written() -> None:
    known = {"spark": SPARK, "jwt|x": Producer("jwt|x", ("*",))}
    assert producers.load(producers.dump(known)) == known


def _document(**changes: object) -> str:
    said = json.loads(producers.dump({"spark": SPARK}))["producers"]["spark"]
    return json.dumps({"producers": {"spark": said | changes}})


@pytest.mark.parametrize(
    "document",
    [
        "",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        '{"producers": []}',
        '{"producers": {}, "more": 1}',
        '{"producers": {"": {"namespaces": ["*"], "tokens": []}}}',
        '{"producers": {"a b": {"namespaces": ["*"], "tokens": []}}}',
        '{"producers": {"spark": {"tokens": []}}}',
        _document(more=1),
        _document(namespaces=[]),
        _document(namespaces=[""]),
        _document(namespaces="*"),
        _document(namespaces=[1]),
        _document(namespaces=["x" * 5000]),
        _document(tokens=[DIGEST]),
        _document(tokens=[{"id": "00000001", "sha256": "short", "issued": 1, "expires": None}]),
        _document(tokens=[{"id": "00000001", "sha256": DIGEST, "issued": 1}]),
        _document(tokens=[{"id": "00000001", "sha256": DIGEST, "issued": 1, "expires": "soon"}]),
        _document(tokens=[{"id": "x", "sha256": DIGEST, "issued": 1, "expires": None}]),
    ],
)
def test_a_document_is_understood_whole_or_not_at_all(document: str) -> None:
    """What is misspelt could be an expiry or a namespace: then nobody is let in by it."""
    with pytest.raises(MalformedError) as caught:
        producers.load(document)
    assert DIGEST not in str(caught.value)


def test_a_token_is_found_by_its_hash_among_all_producers() -> None:
    late = Producer("late", ("*",), (Token("00000002", sha256(b"two").hexdigest(), 1), Token("00000003", DIGEST, 1)))
    known = {"other": Producer("other", ("*",)), "late": late}
    assert holder(known, "one") == (late, late.tokens[1])
    assert holder(known, "One") is None
    assert holder(known, DIGEST) is None


@pytest.mark.parametrize(("expires", "over"), [(None, False), (11, False), (10, True), (9, True)])
def test_a_token_is_over_when_its_time_comes(expires: int | None, *, over: bool) -> None:
    assert Token("00000001", DIGEST, 1, expires).expired(10.0) is over
