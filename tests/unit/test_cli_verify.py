"""An event is what DataZone has of it, byte for byte, or one is told how it is not."""

from __future__ import annotations

import json
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from adapter.accept import accept
from adapter.model import RunEvent
from cli import verify
from cli.sources import Item
from cli.verify import Domain, Result, Verified, verified
from local import datazone
from local.datazone import models
from tests.fakes import run_event

if TYPE_CHECKING:
    from collections.abc import Iterator

RAW = run_event(facet={"a": [1, 2], "b/c": "x"})


class Stored:
    """A DataZone to be filled; what it takes is processed at once."""

    def __init__(self) -> None:
        self.client = boto3.client("datazone", "us-east-1", aws_access_key_id="unit", aws_secret_access_key="unit")
        self.domain = models.datazone_backends["123456789012"]["us-east-1"].domain("dzd_local")

    def post(self, raw: bytes, *, fails: bool = False) -> str:
        return self.domain.post(raw, sha256(raw + bytes([fails])).hexdigest(), "unit", fails=fails).id

    def verify(self, *raws: bytes, archived_as: str | None = None) -> list[Verified]:
        items = [Item(f"{number}.json", raw, archived_as=archived_as) for number, raw in enumerate(raws)]
        return list(verified(Domain(self.client, "dzd_local"), items))


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stored]:
    datazone.register()
    monkeypatch.setattr(models, "_REQUESTED", timedelta(0))
    monkeypatch.setattr(models, "_PROCESSING", timedelta(0))
    with mock_aws():
        models.datazone_backends["123456789012"]["us-east-1"].reset()
        yield Stored()


def test_the_same_bytes_are_equal(stored: Stored) -> None:
    identifier = stored.post(RAW)
    event = accept(RAW)
    assert isinstance(event, RunEvent)
    assert stored.verify(RAW) == [
        Verified("0.json", Result.EQUAL, sha256(RAW).hexdigest(), event.client_token, identifier, "SUCCESS")
    ]


def test_the_same_event_written_otherwise_is_different_and_nowhere(stored: Stored) -> None:
    stored.post(json.dumps(json.loads(RAW), indent=1).encode())
    (one,) = stored.verify(RAW)
    assert (one.result, one.differs_at) == (Result.DIFFERENT, ())


@pytest.mark.parametrize(
    ("facet", "places"),
    [
        ({"a": [1, 3], "b/c": "x"}, ("/facet/a/1",)),
        ({"a": [1], "b/c": "SECRET"}, ("/facet/a", "/facet/b~1c")),
        ({"a": [1, 2]}, ("/facet/b~1c",)),
        ({"a": [True, 2], "b/c": "x"}, ("/facet/a/0",)),
    ],
)
def test_a_difference_is_named_by_its_place_and_not_by_its_value(
    stored: Stored, facet: object, places: tuple[str, ...]
) -> None:
    stored.post(run_event(facet=facet))
    (one,) = stored.verify(RAW)
    assert (one.result, one.differs_at) == (Result.DIFFERENT, places)
    assert "SECRET" not in verify._line(one)  # noqa: SLF001 - what is printed


@pytest.mark.parametrize(
    "other",
    [
        run_event(2),
        run_event(eventType="START"),
        run_event(eventTime="2026-11-29T10:00:01Z"),
        run_event(job={"namespace": "retail", "name": "another"}),
    ],
)
def test_another_event_of_the_domain_is_not_the_one(stored: Stored, other: bytes) -> None:
    stored.post(other)
    (one,) = stored.verify(RAW)
    assert (one.result, one.lineage_event_id, one.looked_at_all) == (Result.MISSING, None, True)


def test_a_failed_event_is_told_until_a_replay_of_it_succeeds(stored: Stored) -> None:
    failed = stored.post(RAW, fails=True)
    (one,) = stored.verify(RAW)
    assert (one.result, one.lineage_event_id, one.status) == (Result.FAILED, failed, "FAILED")
    replayed = stored.post(RAW)
    (one,) = stored.verify(RAW)
    assert (one.result, one.lineage_event_id) == (Result.EQUAL, replayed)


def test_an_archived_copy_is_compared_with_the_event_it_was_made_of(stored: Stored) -> None:
    identifier = stored.post(RAW)
    assert [one.result for one in stored.verify(RAW, archived_as=identifier)] == [Result.EQUAL]
    assert [one.result for one in stored.verify(run_event(2), archived_as=identifier)] == [Result.DIFFERENT]
    assert [one.result for one in stored.verify(RAW, archived_as="a" * 14)] == [Result.MISSING]


def test_what_the_adapter_refuses_was_never_delivered(stored: Stored) -> None:
    refused, equal = stored.verify(b"{", run_event(1))[0], stored.post(RAW)
    assert (refused.result, refused.status) == (Result.REFUSED, "not_json")
    assert equal


def test_looking_ends_somewhere_and_says_so(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "LOOKED_AT", 2)
    for run in (2, 3, 1):
        stored.post(run_event(run))
    (one,) = stored.verify(run_event(1))
    assert (one.result, one.looked_at_all) == (Result.MISSING, False)
    assert "more than the 2 events" in verify._line(one)  # noqa: SLF001 - what is printed


def test_a_run_that_says_the_same_thing_many_times_is_looked_at_whole(stored: Stored) -> None:
    events = [run_event(1, eventType="RUNNING", mark=mark) for mark in range(3)]
    identifiers = [stored.post(raw) for raw in events]
    results = stored.verify(*events)
    assert [(one.result, one.lineage_event_id) for one in results] == [(Result.EQUAL, one) for one in identifiers]
