"""A full run with a secret in every value of every event: none of them is in a log, a metric, an answer or a reason.

A job's namespace and name, the run's id and the event's type are logged by design, as are names of keys (SECURITY.md).
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from local.kpl import aggregate
from tests.fakes import run_event
from tests.integration.running import READY, STREAM, Running, start, token, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# In each value that is planted, so that one search finds them all.
PLANTED = "hunter2"
WRONG = "w" * 43
FACET = {"_producer": "https://x.example/1", "_schemaURL": "https://x.example/1.json"}


def planted(place: str) -> str:
    """Make a value to look for; the place is in it, to say where it got out."""
    return f"{PLANTED}-{place}-{uuid4().hex}"


def _facets(place: str, **facets: dict[str, Any]) -> dict[str, Any]:
    note: dict[str, Any] = {"text": planted(f"{place} facet"), "list": [{"password": planted(f"{place} in a list")}]}
    return {"note": FACET | note} | {name: FACET | facet for name, facet in facets.items()}


def event(**more: object) -> dict[str, Any]:
    """Make a run event with a secret in every value that may hold one and is not logged by design."""
    parent = {"run": {"runId": str(uuid4())}, "job": {"namespace": planted("parent"), "name": planted("parent's name")}}
    error = {"message": planted("error"), "programmingLanguage": "SQL", "stackTrace": planted("trace")}
    sql = {"query": f"ALTER USER reader PASSWORD '{planted('sql')}'"}
    columns = {"fields": [{"name": planted("column"), "type": "int", "description": planted("description")}]}
    dataset = {"namespace": f"postgres://u:{planted('dataset')}@h", "name": planted("dataset's name")}
    made: dict[str, Any] = json.loads(run_event())
    return made | {
        "producer": f"https://u:{planted('producer')}@x.example/1",
        "schemaURL": f"{made['schemaURL']}?{planted('schema')}",
        "run": {"runId": str(uuid4()), "facets": _facets("run", errorMessage=error, parent=parent)},
        "job": made["job"] | {"facets": _facets("job", sql=sql)},
        "inputs": [dataset | {"facets": _facets("input", schema=columns), "inputFacets": _facets("inputFacets")}],
        "outputs": [dataset | {"facets": _facets("output"), "outputFacets": _facets("outputFacets")}],
        planted("a key"): planted("unknown"),
        **more,
    }


def _bytes(**more: object) -> bytes:
    return json.dumps(event(**more)).encode()


def _second_key() -> bytes:
    return _bytes()[:-1] + f', "producer": "{planted("second")}"}}'.encode()


# One of each kind, by what becomes of it.
KINDS: dict[str, Callable[[], bytes]] = {
    "taken": _bytes,
    "format": lambda: _bytes(eventTime=planted("time"), producer=planted("no uri"), schemaURL=planted("no url")),
    "run id": lambda: _bytes(run={"runId": planted("run id")}),
    "type": lambda: _bytes(eventType=planted("type"), inputs=planted("inputs"), run=planted("run"), job=planted("job")),
    "facet": lambda: _bytes(outputs=[{"namespace": 1, "name": [planted("name")], "facets": {"f": planted("facet")}}]),
    "dataset event": lambda: json.dumps({"dataset": event()}).encode(),
    "torn": lambda: _bytes()[:-1],
    "not UTF-8": lambda: _bytes() + b"\xff",
    "second key": _second_key,
    "number": lambda: _bytes(number=0).replace(b'"number": 0', b'"number": NaN'),
    "no object": lambda: json.dumps([planted("array")]).encode(),
    "large": lambda: _bytes(filler=planted("large") * 10_000),
    "no gzip": lambda: b"\x1f\x8b" + _bytes(),
}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system of its own that asks for a token and shows the functions' own lines."""
    terminal = tmp_path_factory.mktemp("planted") / "terminal"
    running = start(terminal, "StreamBatchWindow=0", "LogLevel=DEBUG", AUTH="on", LOGS="raw", QUEUE_SPEED="500")
    yield running
    assert running.stop() == 0


def _posted(system: Running, bearer: str, kinds: Iterable[str]) -> list[str]:
    """Send events over HTTP, alone and in a batch, under right and wrong tokens; give all that was answered."""
    names = ("X-Amz-Security-Token", "Cookie", "User-Agent", "Referer", "X-Api-Key")
    secrets = {"Authorization": f"Bearer {bearer}"} | {name: planted(name) for name in names}
    query = f"?token={planted('query')}&X-Amz-Credential={planted('credential')}"
    raws = [KINDS[kind]() for kind in kinds]
    answers = [system.post(raw, f"/api/v1/lineage{query}", **secrets) for raw in raws]
    answers.append(system.post(b"[" + b",".join(raws) + b"]", "/api/v1/lineage/batch", **secrets))
    answers.append(system.post(raws[0], "/", **(secrets | {"Content-Encoding": planted("encoding")})))
    answers.append(system.post(raws[0], f"/{planted('path')}", **secrets))
    wrong = [f"Bearer {planted('token')}", f"Bearer olz_00000000_{WRONG}", f"Basic {planted('basic')}", "Bearer "]
    answers += [system.post(raws[0], **(secrets | {"Authorization": one})) for one in wrong]
    del secrets["Authorization"]
    answers.append(system.post(raws[0], **secrets))
    return [json.dumps([answer.status, answer.body, list(answer.headers.items())]) for answer in answers]


def _streamed(system: Running) -> None:
    packed = [aggregate([("k", make()) for make in KINDS.values()])]
    packed += [packed[0][:-1], gzip.compress(KINDS["taken"]())]
    for data in [*(make() for make in KINDS.values()), *packed]:
        system.kinesis.put_record(StreamName=STREAM, PartitionKey=planted("partition key"), Data=data)


def _kept(system: Running) -> list[str]:
    """Give the keys of all that is in the bucket, and what is said there beside the bytes."""
    pages = system.s3.get_paginator("list_objects_v2").paginate(Bucket=system.bucket)
    keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
    reasons = [key for key in keys if key.endswith(".reason.json")]
    return keys + [system.s3.get_object(Bucket=system.bucket, Key=key)["Body"].read().decode() for key in reasons]


def test_no_secret_gets_out(system: Running) -> None:
    bearer = token(system)
    said = _posted(system, bearer, KINDS)
    _streamed(system)
    # DataZone refuses the event; then IAM refuses it, and nothing but the quarantine takes anything, and not even that.
    for service, status in (("datazone", 400), ("datazone", 403), ("sqs", 500), ("s3", 500)):
        system.faults("PUT", service=service, status=status)
        said += _posted(system, bearer, ["taken", "run id"])
    system.faults("DELETE")
    until(lambda: _has(system, "backlog", "delivered") and _has(system, "kinesis", "delivered"))
    output, kept = system.output(), _kept(system)

    # What is searched is what it should be: every outcome, metrics, reasons.
    assert {json.loads(one)[0] for one in said} >= {200, 202, 400, 401, 403, 404, 413, 415, 422, 503}
    assert {"schema_violation", "not_json", "too_large", "refused_by_datazone"} <= {
        json.loads(one)["code"] for one in kept if one.startswith("{")
    }
    assert all(
        part in output for part in ('"outcome":"rejected"', "nothing durable took an event", '"_aws"', '"denied"')
    )

    ready = READY.search(output)
    assert ready
    for text in (output[ready.end() :], *said, *kept):  # before it is Ready it shows the token, once
        found = re.search(f"{PLANTED}|{bearer}|{WRONG}", text)
        assert found is None, text[max(0, found.start() - 300) : found.end() + 60]


def _has(system: Running, door: str, outcome: str) -> bool:
    lines = (line for line in system.output().splitlines() if f'"door":"{door}"' in line)
    return any(f'"outcome":"{outcome}"' in line for line in lines)
