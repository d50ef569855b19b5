"""DataZone fails one event in twenty after it has said 200: each is found once, and its bytes are kept."""

from __future__ import annotations

import json
import time
from itertools import batched
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from adapter import bootstrap
from cli import stored
from cli.bucket import ARCHIVE, Bucket
from cli.main import group
from tests.artefact import ENVIRONMENT
from tests.fakes import run_event
from tests.integration.running import DOMAIN, Running, start, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FAILED = "quarantine/failed_in_datazone/"
EVENTS = 200


class Invocation:
    """Lambda's context, with so many seconds left."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return int((self._end - time.monotonic()) * 1000)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """Give a system whose own function does not come into play: its first pass is minutes away."""
    system = start(tmp_path / "terminal")
    yield system
    assert system.stop() == 0


def fail_one_in_twenty(system: Running) -> set[str]:
    """Post EVENTS events and give DataZone's ids of those it cannot process."""
    system.faults("PUT", processing_fails=0.05)
    for some in batched(map(run_event, range(EVENTS)), 20, strict=True):
        batch = b"[" + b",".join(some) + b"]"
        assert system.post(batch, "/api/v1/lineage/batch").body["summary"]["failed"] == 0
    system.faults("DELETE")
    until(lambda: len(listed(system, "FAILED")) + len(listed(system, "SUCCESS")) == EVENTS)
    return listed(system, "FAILED")


def listed(system: Running, status: Any) -> set[str]:  # noqa: ANN401 - one of botocore's literals
    pages = system.datazone.get_paginator("list_lineage_events").paginate(
        domainIdentifier=DOMAIN, processingStatus=status
    )
    return {item["id"] for page in pages for item in page["items"]}


def kept(system: Running) -> dict[str, bytes]:
    """Give what is in quarantine for it: DataZone's ids and the bytes."""
    found = system.s3.list_objects_v2(Bucket=system.bucket, Prefix=FAILED).get("Contents", [])
    bodies = {one["Key"]: system.s3.get_object(Bucket=system.bucket, Key=one["Key"])["Body"].read() for one in found}
    return {
        json.loads(body)["lineage_event_id"]: bodies[key.replace(".reason.json", ".event")]
        for key, body in bodies.items()
        # The two are written side by side.
        if key.endswith(".reason.json") and key.replace(".reason.json", ".event") in bodies
    }


def aws_environment(system: Running) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": system.aws_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "POWERTOOLS_METRICS_NAMESPACE": "LineageAdapter",
        "POWERTOOLS_SERVICE_NAME": "test",
    }


def a_pass(system: Running, monkeypatch: pytest.MonkeyPatch, seconds: float) -> dict[str, Any]:
    """Make one pass as a container that has just started does."""
    for name, value in aws_environment(system).items():
        monkeypatch.setenv(name, value)
    build = ENVIRONMENT | {"DOMAIN_ID": DOMAIN, "QUARANTINE_BUCKET": system.bucket}
    return bootstrap.reconcile(build)({}, Invocation(seconds))


def test_every_failure_is_found_once_under_throttling_and_across_restarts(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each pass is a container of its own; the first ones have too little time for all there is to do."""
    failed = fail_one_in_twenty(running)
    assert failed
    running.faults("PUT", status=429, rate=0.3)
    passes = []
    for seconds in (15, 15, 16.5, 18, 60):
        passes.append(a_pass(running, monkeypatch, seconds))
        if passes[-1]["complete"]:
            break
    assert not passes[0]["complete"]
    assert passes[-1]["complete"]
    passes.append(a_pass(running, monkeypatch, 60))
    running.faults("DELETE")
    assert sum(one["failed"] for one in passes) == len(failed)
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(line["lineage_event_id"] for line in said if line.get("message") == "failed in datazone") == sorted(
        failed
    )
    assert kept(running) == {one: running.event(one) for one in failed}


def typed(*words: str) -> Result:
    return CliRunner().invoke(group, [*words, "--stack", "lineage-adapter"])


def replayed(system: Running, monkeypatch: pytest.MonkeyPatch, failed: set[str]) -> None:
    """Replay what failed: DataZone takes each of them anew, and knows the old one no better than before."""
    for name, value in aws_environment(system).items():
        monkeypatch.setenv(name, value)
    before_it = until(lambda: (now := overview(typed("status", "--json")))["delivered"] == EVENTS and now)
    assert before_it == {"received": EVENTS, "delivered": EVENTS, "failed": len(failed), "by": {"retail": len(failed)}}
    listed_ = typed("quarantine", "list", "--code", "failed_in_datazone", "--json")
    assert {json.loads(line)["lineage_event_id"] for line in listed_.output.splitlines()} == failed
    before = set(system.delivered())
    assert typed("quarantine", "replay", "--code", "failed_in_datazone").exit_code == 0
    after = system.delivered()
    assert len(after.keys() - before) == len(failed)
    assert sorted(after[one] for one in after.keys() - before) == sorted(after[one] for one in failed)
    assert kept(system) == {}
    until(lambda: len(listed(system, "SUCCESS")) == EVENTS)
    until(lambda: overview(typed("status", "--json"))["delivered"] == EVENTS + len(failed))


def overview(result: Result) -> dict[str, Any]:
    said = json.loads(result.output)
    numbers = {name: said[name] for name in ("received", "delivered")}
    return numbers | {"failed": said["datazone"]["failed"], "by": said["datazone"]["failed_by_namespace"]}


def test_an_event_without_its_copy_comes_again_until_it_has_one(tmp_path: Path) -> None:
    """Its emitter is answered 202; DataZone has it once; the archive is read back by replay's own reader."""
    system = start(tmp_path / "terminal", "ArchiveEvents=true", QUEUE_SPEED="100")
    try:
        system.faults("PUT", service="s3", status=503)
        assert system.post(run_event(1)).status == 202
        system.faults("DELETE")
        assert system.post(run_event(2)).status == 200
        archive = Bucket(system.s3, "lineage-adapter-archive")
        until(lambda: len(list(archive.keys(ARCHIVE))) == 2)
        items = list(stored.read(archive, stored.keys(archive, "archive/day=")))
        assert {item.archived_as: item.raw for item in items} == system.delivered()
        assert {item.raw for item in items} == {run_event(1), run_event(2)}
    finally:
        assert system.stop() == 0


def test_the_function_finds_them_on_its_schedule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says so in its log, in CloudWatch and in the quarantine, from where they are replayed."""
    system = start(tmp_path / "terminal", SCHEDULE_SPEED="200")
    try:
        failed = fail_one_in_twenty(system)
        until(lambda: set(kept(system)) == failed)
        until(lambda: system.output().count("datazone failed     failed_in_datazone") == len(failed))
        found = system.client("cloudwatch").list_metrics(Namespace="LineageAdapter")["Metrics"]
        assert "DataZoneFailed" in {metric["MetricName"] for metric in found}
        replayed(system, monkeypatch, failed)
    finally:
        assert system.stop() == 0
