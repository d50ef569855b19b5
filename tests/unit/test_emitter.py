"""What made an event can be told without telling anybody's password."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter.emitter import MAX_LENGTH, UNKNOWN, emitter
from tests.fakes import run_event

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/spark"


@pytest.mark.parametrize(
    ("producer", "told"),
    [
        (SPARK, "github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/spark"),
        ("https://x.example:8443/etl?token=SECRET#SECRET", "x.example/etl"),
        ("https://user:SECRET@x.example/etl", UNKNOWN),
        ("urn:SECRET", UNKNOWN),
        ("https://[SECRET/", UNKNOWN),
        ("SECRET", UNKNOWN),
        (None, UNKNOWN),
        (7, UNKNOWN),
        (["SECRET"], UNKNOWN),
    ],
)
def test_an_emitter_is_told_by_host_and_path(producer: object, told: str) -> None:
    assert emitter(run_event(producer=producer)) == told


@pytest.mark.parametrize("raw", [b"", b"\xff", b"[]", b"7", b'"producer"', b"{}", b"[" * 200_000])
def test_what_is_no_event_has_no_emitter(raw: bytes) -> None:
    assert emitter(raw) == UNKNOWN


_AWKWARD = st.text("a/?#@:[]\\%\n é")


@given(_AWKWARD, _AWKWARD, _AWKWARD)
def test_no_password_is_ever_told(before: str, after: str, path: str) -> None:
    """Neither an ordinary one nor one that makes the address another than was meant."""
    producer = f"https://user:{before}SECRET{after}@x.example/{path}"
    told = emitter(json.dumps({"producer": producer}).encode())
    assert "secret" not in told.lower()
    assert len(told) <= MAX_LENGTH
