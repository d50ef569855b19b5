"""Whole Lambda events, arbitrary and realistic with hostile parts: each door answers in its contract's words, always.

DataZone, the backlog and the quarantine do what hypothesis likes meanwhile, raising included.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapter import backlog
from adapter.doors.backlog import BacklogDoor
from adapter.doors.http import BATCH_PATH, EVENT_PATHS, HttpDoor
from adapter.doors.kinesis import WHOLE_BATCH, KinesisDoor, PartialResponse
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Cause, Code, Deferred, Outcome, Received, Rejected, RunEvent, Source
from local.kpl import aggregate
from tests.fakes import FakeBacklog, FakeLineage, FakeQuarantine, FakeTelemetry, callers, delivered, run_event
from tests.fuzz.seeds import seeds

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUSES = {200, 202, 400, 404, 405, 413, 415, 422, 503}

_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_event = st.sampled_from(seeds("accept")) | st.integers(1, 3).map(run_event) | st.binary(max_size=40)
_packed = _event | _event.map(gzip.compress) | st.sampled_from(seeds("body")).map(lambda gzipped: gzipped[:-9])
_base64 = _packed.map(lambda data: base64.b64encode(data).decode())


class Context:
    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def _refused(_: RunEvent) -> Outcome:
    return Rejected(Code.REFUSED_BY_DATAZONE, "DataZone refused the event")


def _waiting(event: RunEvent) -> Outcome:
    return Deferred(Cause.THROTTLED, event.client_token, 0.5)


def _raising(_: RunEvent) -> Outcome:
    raise ZeroDivisionError


class World:
    """What is behind a door, in some state."""

    def __init__(self, data: st.DataObject) -> None:
        self.lineage = FakeLineage(data.draw(st.sampled_from([delivered, _refused, _waiting, _raising])))
        self.quarantine = FakeQuarantine(away=data.draw(st.booleans()))
        self.backlog = FakeBacklog(away=data.draw(st.booleans()))
        self.told = FakeTelemetry()
        self.ingest = Ingest(self.lineage, self.quarantine, self.told)
        self.lanes = Lanes(self.ingest, 2, 1.0)

    def kept(self) -> list[bytes]:
        """Give all the bytes that are in one of the durable places."""
        waiting = [received.raw for received, _ in self.backlog.put_in + self.quarantine.kept]
        return waiting + [event.raw for event in self.lineage.given if self.lineage.script is delivered]


def _mostly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what Lambda sends there, or now and then anything."""
    return st.one_of(strategy, strategy, strategy, strategy, strategy, _json)


def _over(real: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Draw an object with the members of `real`; any may be missing, or be anything."""
    return st.fixed_dictionaries({}, optional={name: _mostly(part) for name, part in real.items()})


_headers = st.none() | st.dictionaries(
    st.sampled_from(["Content-Encoding", "content-encoding", "Content-Type"]),
    st.sampled_from(["gzip", "GZIP", "identity", "br", "", "application/json"]) | _text,
)
_bodies = st.builds(lambda pieces: "[" + ",".join(pieces) + "]", st.lists(_event.map(lambda e: e.decode("latin-1"))))
_request = {
    "path": st.sampled_from([*EVENT_PATHS, BATCH_PATH, "/health", "/x", "//"]),
    "headers": _headers,
    "body": _base64 | _bodies | _text | st.none(),
    "isBase64Encoded": st.booleans(),
}
_method = st.sampled_from(["POST", "POST", "POST", "GET", "PUT"])
_v1 = _over(_request | {"version": st.just("1.0"), "httpMethod": _method})
_v2 = st.builds(
    lambda event, path, method: event | {"rawPath": path, "requestContext": {"http": {"method": method}}},
    _over(_request | {"version": st.just("2.0")}),
    _mostly(_request["path"]),
    _mostly(_method),
)


@settings(max_examples=400)
@given(_v1 | _v2.map(lambda event: event | {"version": "2.0"}) | _json, st.data())
def test_http_answers_by_its_contract(event: Any, data: st.DataObject) -> None:  # noqa: ANN401 - any JSON
    world = World(data)
    answer = HttpDoor(world.ingest, world.lanes, world.backlog, callers())(event, None)
    status, headers = answer["statusCode"], answer["headers"]
    assert status in STATUSES
    body = json.loads(answer["body"])
    assert isinstance(body, dict)
    assert body
    assert ("Retry-After" in headers) is (status == 503)
    assert "Location" not in headers
    assert headers["Content-Type"] == ("application/json" if status < 300 else "application/problem+json")
    if status in {413, 415, 422} or body.get("status") == "deferred":
        assert world.kept(), "refused or deferred, and nowhere to be found"


_data = _packed | st.lists(_packed, max_size=4).map(lambda pieces: aggregate([("k", piece) for piece in pieces]))
_torn = _data.map(lambda data: base64.b64encode(data[:-1]).decode())
_whole = _data.map(lambda data: base64.b64encode(data).decode())
# The identifiers are Lambda's own; they are there, if anything is.
_kinesis = st.builds(
    lambda number, record: {"sequenceNumber": number} | record,
    st.integers(10**20, 10**21).map(str),
    _over({"partitionKey": _text, "data": _whole | _torn, "approximateArrivalTimestamp": st.floats(0, 2e9)}),
)
_sqs = st.builds(
    lambda identifier, message: {"messageId": identifier} | message,
    st.uuids().map(str),
    _over(
        {
            "receiptHandle": _text,
            "body": _event.map(lambda raw: backlog.message(Received(raw, Source.HTTP), None)) | _text,
            "attributes": st.fixed_dictionaries({"ApproximateReceiveCount": st.integers(1, 20).map(str)}),
        }
    ),
)


def _batch(record: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return _mostly(st.fixed_dictionaries({"Records": _mostly(st.lists(record, max_size=5))}))


def _is_partial_response(answer: PartialResponse, numbers: list[object]) -> None:
    assert set(answer) == {"batchItemFailures"}
    assert all(set(failure) == {"itemIdentifier"} for failure in answer["batchItemFailures"])
    named = [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]
    assert named == [WHOLE_BATCH] or set(named) <= set(numbers)


def _values(name: str, event: object) -> Iterator[object]:
    """Find all members called `name`, wherever they are."""
    if isinstance(event, dict):
        yield from (event[name],) if name in event else ()
    for inner in event.values() if isinstance(event, dict) else event if isinstance(event, list) else ():
        yield from _values(name, inner)


def _stream(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return _mostly(st.fixed_dictionaries({"kinesis": part}))


@settings(max_examples=250)
@given(_batch(_stream(_kinesis)), st.data())
def test_kinesis_answers_with_a_partial_response(event: Any, data: st.DataObject) -> None:  # noqa: ANN401 - any JSON
    world = World(data)
    answer = KinesisDoor(world.ingest, world.lanes)(event, Context())
    _is_partial_response(answer, list(_values("sequenceNumber", event)))


@settings(max_examples=250)
@given(_batch(_sqs), st.data())
def test_the_backlog_answers_with_a_partial_response(event: Any, data: st.DataObject) -> None:  # noqa: ANN401 - any JSON
    world = World(data)
    answer = BacklogDoor(world.ingest, world.lanes, world.backlog)(event, Context())
    _is_partial_response(answer, list(_values("messageId", event)))
