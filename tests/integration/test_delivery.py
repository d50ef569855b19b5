"""The main job on real input: what an emitter sends is what DataZone has, byte for byte, under the formula's token."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.serde import Serde

from local.kpl import PARTITION_KEY, aggregate
from tests.fakes import run_event
from tests.integration.running import DOMAIN, STREAM
from tests.sample import EVENTS, index, invalid, padded, valid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.integration.running import Running

SECONDS = 120


def _token(raw: bytes) -> str:
    return sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest()


def _post(system: Running, raw: bytes, path: str = "/api/v1/lineage", **headers: str) -> tuple[int, dict[str, Any]]:
    answer = system.post(raw, path, **headers)
    return answer.status, answer.body


def _ids(system: Running, since: datetime) -> set[str]:
    pages = system.datazone.get_paginator("list_lineage_events").paginate(domainIdentifier=DOMAIN, timestampAfter=since)
    return {item["id"] for page in pages for item in page["items"]}


def _arrive(system: Running, since: datetime, expected: Iterable[bytes]) -> None:
    """Wait until DataZone has all of `expected`, byte for byte, from `since` on."""
    wanted, seen, deadline = set(expected), set[str](), time.monotonic() + SECONDS
    while wanted and time.monotonic() < deadline:
        for identifier in _ids(system, since) - seen:
            seen.add(identifier)
            wanted.discard(system.event(identifier))
        time.sleep(0.1)
    assert not wanted, f"{len(wanted)} events did not arrive"


def _fresh(path: Path) -> bytes:
    """Give a sample a run of its own, other bytes untouched, so that it is not yet in DataZone."""
    raw = path.read_bytes()
    run_id = json.loads(raw)["run"]["runId"].encode()
    return raw.replace(run_id, str(uuid4()).encode())


@pytest.mark.parametrize("path", valid(), ids=lambda path: str(path.relative_to(EVENTS)))
def test_a_valid_sample_is_stored_byte_for_byte_under_the_formula_s_token(system: Running, path: Path) -> None:
    raw = path.read_bytes()
    status, body = _post(system, raw)
    assert (status, body["status"], body["domainId"]) == (200, "delivered", DOMAIN)
    assert body["clientToken"] == _token(raw)
    assert system.event(body["id"]) == raw


@pytest.mark.parametrize("path", invalid(), ids=lambda path: str(path.relative_to(EVENTS)))
def test_an_invalid_sample_gets_its_status_and_code(system: Running, path: Path) -> None:
    expected = index()[str(path.relative_to(EVENTS))]
    status, body = _post(system, path.read_bytes())
    assert (status, body["status"], body["code"]) == (expected.status, expected.status, expected.code)
    if expected.path is not None:
        assert [(error["path"], error["rule"]) for error in body["errors"]] == [(expected.path, expected.rule)]


def test_what_was_refused_lies_in_the_quarantine_with_its_bytes_and_reason(system: Running) -> None:
    raw = run_event(eventTime="2026-11-29T10:00:00", mark=str(uuid4()))
    today = datetime.now(UTC).date()
    _, body = _post(system, raw)
    key = body["quarantineKey"]
    assert system.s3.get_object(Bucket=system.bucket, Key=key)["Body"].read() == raw
    reason_key = key.removesuffix(".event") + ".reason.json"
    reason = json.load(system.s3.get_object(Bucket=system.bucket, Key=reason_key)["Body"])
    assert (reason["code"], reason["source"], reason["job_namespace"]) == ("schema_violation", "http", "retail")
    name = key.removeprefix("quarantine/").removesuffix(".event")
    listed = system.s3.list_objects_v2(Bucket=system.bucket, Prefix="days/")["Contents"]
    # It may be midnight.
    days = {today, datetime.now(UTC).date()}
    assert {entry["Key"] for entry in listed} & {f"days/{day}/{name}" for day in days}


def test_sending_again_is_harmless(system: Running) -> None:
    """Other white space and key order included: it is the same event."""
    raw = run_event(mark=str(uuid4()))
    _, first = _post(system, raw)
    _, again = _post(system, raw)
    assert again["id"] == first["id"]
    assert again["clientToken"] == first["clientToken"]


@pytest.mark.parametrize(("size", "status"), [(300_000, 200), (300_001, 413)])
@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
def test_the_cap_is_300_000_bytes_decompressed(
    system: Running, size: int, status: int, squeeze: Callable[[bytes], bytes]
) -> None:
    raw = padded(run_event(mark=str(uuid4())), size)
    encoding = {"content_encoding": "gzip"} if squeeze is gzip.compress else {}
    answered, body = _post(system, squeeze(raw), **encoding)
    assert answered == status
    if status == 200:
        assert system.event(body["id"]) == raw
    else:
        assert body["errors"][0]["path"] == "/run/facets/filler"


@pytest.mark.parametrize("path", ["/", "/lineage", "/api/v1/lineage", "/api/v1/lineage/"])
def test_every_path_of_the_contract_delivers(system: Running, path: str) -> None:
    assert _post(system, run_event(mark=str(uuid4())), path)[0] == 200


def test_a_batch_is_answered_as_openlineage_has_it_and_keeps_each_element_s_bytes(system: Running) -> None:
    since = datetime.now(UTC)
    good = [_fresh(path) for path in valid()[:6]]
    batch = b"[ " + b" ,\n".join([*good[:3], b'{"job": {}}', *good[3:]]) + b" ]"
    status, body = _post(system, batch, "/api/v1/lineage/batch")
    assert status == 200
    assert body["status"] == "partial_success"
    assert body["summary"] == {"received": 7, "successful": 6, "failed": 1, "retriable": 0, "non_retriable": 1}
    assert [failed["index"] for failed in body["failed_events"]] == [3]
    _arrive(system, since, good)


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "plain": {"type": "http"},
    "gzip": {"type": "http", "compression": "gzip"},
    "async": {"type": "async_http"},
    "async gzip": {"type": "async_http", "compression": "gzip"},
    "trailing slash": {"type": "http", "slash": True},
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_openlineage_s_own_python_client_delivers(system: Running, name: str) -> None:
    since = datetime.now(UTC)
    config = dict(CONFIGURATIONS[name])
    url = system.url + ("/" if config.pop("slash", False) else "")
    client = OpenLineageClient(config={"transport": config | {"url": url}})
    run = Run(str(uuid4()))
    sent = [
        RunEvent(
            eventType=state,
            eventTime=datetime.now(UTC).isoformat(),
            run=run,
            job=Job("retail", f"orders \u00e9 {name}"),
            producer="https://example.com/retail",
        )
        for state in (RunState.START, RunState.RUNNING, RunState.COMPLETE)
    ]
    for event in sent:
        client.emit(event)
    client.close()
    # The client adds its own tags to each event before it serialises it.
    _arrive(system, since, [Serde.to_json(event).encode() for event in sent])


@pytest.mark.parametrize("pack", ["plain", "gzip", "KPL"])
def test_the_stream_delivers_the_same_events(system: Running, pack: str) -> None:
    since = datetime.now(UTC)
    events = [_fresh(path) for path in valid()]
    if pack == "KPL":
        records = [
            (PARTITION_KEY, aggregate([("k", raw) for raw in events[at : at + 10]])) for at in range(0, len(events), 10)
        ]
    else:
        squeeze: Callable[[bytes], bytes] = gzip.compress if pack == "gzip" else bytes
        records = [(str(place), squeeze(raw)) for place, raw in enumerate(events)]
    for key, data in records:
        system.kinesis.put_record(StreamName=STREAM, PartitionKey=key, Data=data)
    _arrive(system, since, events)
    # Posted again over HTTP, each is known: the stream delivered it under the same token.
    known = _ids(system, since)
    assert all(_post(system, raw)[1]["id"] in known for raw in events)


def test_poison_in_the_stream_is_quarantined_and_costs_its_neighbours_nothing(system: Running) -> None:
    since = datetime.now(UTC)
    good = [run_event(mark=str(uuid4())) for _ in range(3)]
    bad = [b"{poison %s" % uuid4().hex.encode() for _ in range(2)]
    torn = aggregate([("k", run_event(mark=str(uuid4())))])[:-1]
    for data in (good[0], bad[0], aggregate([("k", good[1]), ("k", bad[1])]), torn, good[2]):
        system.kinesis.put_record(StreamName=STREAM, PartitionKey="k", Data=data)
    _arrive(system, since, good)
    for raw, code in [(bad[0], "not_json"), (bad[1], "not_json"), (torn, "unsupported_encoding")]:
        key = f"quarantine/{code}/{sha256(raw).hexdigest()}.event"
        assert system.s3.get_object(Bucket=system.bucket, Key=key)["Body"].read() == raw


def test_another_path_is_a_problem_and_no_redirect(system: Running) -> None:
    status, body = _post(system, run_event(), "/prod/api/v1/lineage")
    assert (status, body["code"]) == (404, "not_found")
