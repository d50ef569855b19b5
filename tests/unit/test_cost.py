"""What an event costs in function calls, which a busy machine does not change; `make bench` has the milliseconds."""

from __future__ import annotations

import gc
import importlib
import sys
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.awsrequest import AWSResponse, HTTPHeaders

from adapter import aws, kpl, settings
from adapter.accept import accept
from adapter.breaker import Breaker
from adapter.connections import Connections
from adapter.datazone import DataZone
from adapter.doors.http import HttpDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.telemetry import Telemetry
from benchmarks import events
from local.kpl import aggregate
from tests.artefact import ENVIRONMENT
from tests.fakes import FakeBacklog, FakeQuarantine, callers

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# Calls of the whole handler to those of the reference, without the HTTP connection that is the same for both.
MOST = 1.15

ONE, MANY = events.SIZES["1 KB"], events.SIZES["290 KB"]


def _calls(step: Callable[[], object]) -> int:
    """Count the functions called in `step`, once it has been done before and is warm."""
    count = 0

    def note(_: FrameType, happening: str, __: object) -> None:
        nonlocal count
        count += happening in {"call", "c_call"}

    step()
    # A collection calls whoever asked to be told of it, whenever it comes.
    gc.disable()
    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


class _Raw(BytesIO):
    """As urllib3 gives an answer's body."""

    def stream(self) -> list[bytes]:
        return [self.read()]


def _taken(**_: object) -> AWSResponse:
    return AWSResponse("", 200, HTTPHeaders(), _Raw(b'{"id": "abcdefghij1234", "domainId": "dzd_1"}'))


def _post(body: bytes) -> dict[str, Any]:
    return {"httpMethod": "POST", "path": "/api/v1/lineage", "headers": {}, "body": body.decode()}


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> tuple[Callable[..., object], Callable[..., object]]:
    """Give the HTTP door and the reference, both with a DataZone that takes everything without a socket."""
    for name, value in {**ENVIRONMENT, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    reference = importlib.import_module("benchmarks.reference")
    # An answer in place of the request, in both: sending is in neither's count.
    monkeypatch.setattr(Connections, "__call__", lambda _, **asked: _taken(**asked))
    client = aws.datazone(settings.read(ENVIRONMENT), aws.Patience(1, 1))
    # botocore's types do not know that a handler may return something.
    reference.client.meta.events.register("before-send", cast("Any", _taken))
    ingest = Ingest(Breaker(DataZone(client, "dzd_1", 1)), FakeQuarantine(), Telemetry())
    return HttpDoor(ingest, Lanes(ingest, 1, 1), FakeBacklog(), callers()), reference.http


@pytest.mark.parametrize("columns", [ONE, MANY])
def test_an_event_at_the_http_door_costs_no_more_calls_than_the_lines_it_replaces(
    handlers: tuple[Callable[..., object], Callable[..., object]], columns: int
) -> None:
    post = _post(events.wide(columns))
    ours, theirs = (_calls(partial(one, post, None)) for one in handlers)
    assert ours / theirs < MOST, (ours, theirs)


def test_no_event_is_judged_in_python_piece_by_piece() -> None:
    """Parsing, canonical text, repeated keys and schema are C and Rust: a larger event makes no more calls."""
    small, large = events.wide(ONE), events.wide(MANY)
    assert _calls(partial(accept, large)) == _calls(partial(accept, small))


def test_after_the_last_repeated_key_nothing_is_looked_through() -> None:
    """Saying no costs a call of the parser's hook for each object, which has three calls in it, and hardly more."""
    large = events.wide(MANY)
    repeated = large[:-1] + b',"run":{}}'
    assert _calls(partial(accept, repeated)) <= 4 * large.count(b"{") + 200


def test_an_aggregate_is_read_in_a_few_calls_a_record() -> None:
    data = aggregate([("run:retail/orders", b"x" * 300)] * 100)
    assert _calls(partial(kpl.records, data)) <= 20 * 100


def test_events_are_of_the_sizes_their_names_say() -> None:
    sizes = {name: len(events.wide(columns)) / 1000 for name, columns in events.SIZES.items()}
    assert 1 <= sizes["1 KB"] < 2
    assert 21 <= sizes["22 KB"] < 23
    assert 285 <= sizes["290 KB"] <= 300
    assert all(not hasattr(accept(events.wide(columns)), "code") for columns in events.SIZES.values())
