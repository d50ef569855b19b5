"""Environment in, doors out."""

from __future__ import annotations

import gc
import importlib
import sys
from contextlib import nullcontext

import pytest

from adapter import bootstrap
from adapter.doors.authorizer import Authorizer
from adapter.doors.backlog import BacklogDoor
from adapter.doors.http import ANSWER_SECONDS, DELIVERY_SECONDS, HttpDoor
from adapter.doors.kinesis import KinesisDoor
from adapter.reconcile import Reconciliation
from adapter.settings import SettingsError

ENVIRONMENT = {"DOMAIN_ID": "dzd_local", "DOMAIN_REGION": "eu-central-1", "FORMAT_ASSERTION": "warn", "LANES": "3"} | {
    "BACKLOG_URL": "http://127.0.0.1:1/123456789012/backlog",
    "QUARANTINE_BUCKET": "quarantine",
    "PRODUCERS_SECRET": "arn:aws:secretsmanager:us-east-1:123456789012:secret:producers-AbCdEf",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)


def test_the_doors_are_built_as_the_environment_says() -> None:
    for build in (bootstrap.http, bootstrap.kinesis, bootstrap.backlog):
        assert build(ENVIRONMENT).ingest.assertion == "warn"


def test_the_http_door_has_time_for_a_second_attempt_and_answers_before_its_clients_leave() -> None:
    """The longest way: DataZone, then the backlog or quarantine, then the other of them."""
    assert bootstrap.HTTP_PATIENCE.attempt < DELIVERY_SECONDS
    assert DELIVERY_SECONDS + 2 * bootstrap.HTTP_SHELTER_PATIENCE.attempt < ANSWER_SECONDS < 4


def test_a_wrong_environment_stops_the_container_at_its_start() -> None:
    for build in (bootstrap.http, bootstrap.reconcile):
        with pytest.raises(SettingsError, match="DOMAIN_ID"):
            build({})


@pytest.mark.parametrize(
    ("name", "door"),
    [
        ("http", HttpDoor),
        ("kinesis", KinesisDoor),
        ("backlog", BacklogDoor),
        ("authorizer", Authorizer),
        ("reconcile", Reconciliation),
    ],
)
def test_each_handler_is_built_when_the_container_starts(
    monkeypatch: pytest.MonkeyPatch, name: str, door: type
) -> None:
    monkeypatch.delitem(sys.modules, f"adapter.handlers.{name}", raising=False)
    assert isinstance(importlib.import_module(f"adapter.handlers.{name}").handler, door)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_collector_is_on_after_a_start_and_leaves_alone_what_was_made_by_then(
    monkeypatch: pytest.MonkeyPatch, *, wrong: bool
) -> None:
    """Also after a start that fails."""
    for module in ("adapter.handlers", "adapter.handlers.kinesis"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    if wrong:
        monkeypatch.setenv("LANES", "0")
    started = importlib.import_module("adapter.handlers")
    assert not gc.isenabled()
    gc.unfreeze()
    with pytest.raises(SettingsError) if wrong else nullcontext():
        started.start(bootstrap.kinesis)
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000


def test_a_secret_that_does_not_answer_leaves_the_door_time_to_answer() -> None:
    """With a JWT it may have to be read first, by the same clock."""
    assert bootstrap.SECRET_PATIENCE.attempt < DELIVERY_SECONDS
