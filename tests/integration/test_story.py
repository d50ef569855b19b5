"""From a failure to a repaired record, as docs/operate.md tells it: an emitter's upgrade sends a bad facet."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import group
from tests.alarms.counted import Counted
from tests.alarms.evaluation import Metric, alarms
from tests.fakes import run_event
from tests.integration.running import Running, until

if TYPE_CHECKING:
    from collections.abc import Callable

STACK = ("--stack", "lineage-adapter")
# As many as have to be refused before the alarm counts (RejectionLeast).
RUNS = range(1, 6)
DELIVERED = Metric("LineageAdapter", "Delivered", frozenset({("service", "lineage-adapter"), ("door", "http")}), "Sum")
REFUSED = re.compile(r"^\w+ +rejected +schema_violation ", re.MULTILINE)


@pytest.fixture
def typed(system: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Give an operator's shell, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    given = {"AWS_ENDPOINT_URL": system.aws_url, "AWS_DEFAULT_REGION": "us-east-1", "HOME": str(tmp_path / "home")}
    for name, value in (given | {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}).items():
        monkeypatch.setenv(name, value)
    return lambda *words: CliRunner().invoke(group, list(words))


def test_a_bad_facet_is_seen_found_repaired_and_proved(system: Running, typed: Callable[..., Result]) -> None:
    """An alarm, `status`, `quarantine list`, `show`, a repair, `lint`, `replay`, no alarm, and `verify` is content."""
    namespace = f"retail-{uuid.uuid4()}"
    alarm, counted = alarms()["RejectionRateAlarm"], Counted(system.aws_url)
    # What other tests were refused by this system is counted with it, and may not be there at once.
    until(lambda: rejected(typed) == len(REFUSED.findall(system.output())))
    before = rejected(typed)
    counted.begin()
    for run in RUNS:
        assert system.post(bad(namespace, run)).status == 422
    until(lambda: alarm.fires(counted.seen))
    until(lambda: rejected(typed) == before + len(RUNS))

    listed = typed("quarantine", "list", *STACK, "--job-namespace", namespace, "--json").output.splitlines()
    assert len(listed) == len(RUNS)
    Path("events").mkdir()
    for number, found in enumerate(map(json.loads, listed)):
        assert (found["code"], found["errors"][0]["path"]) == ("schema_violation", "/job/facets/upgraded/_schemaURL")
        kept = Path("events", f"{number}.json")
        assert typed("quarantine", "show", *STACK, found["key"], "--output", str(kept)).exit_code == 0
        kept.write_bytes(repaired(kept.read_bytes()))
    assert "rejected 0" in typed("lint", "events").output
    assert f"missing {len(RUNS)}" in typed("verify", "events", *STACK).output

    counted.begin()
    assert typed("replay", "events", "--url", system.url).exit_code == 0
    until(lambda: counted.seen(DELIVERED) == len(RUNS))
    assert not alarm.fires(counted.seen)
    assert rejected(typed) == before + len(RUNS), "nothing more was refused"
    until(lambda: typed("verify", "events", *STACK).output.count("SUCCESS") == len(RUNS))
    assert typed("verify", "events", *STACK).exit_code == 0
    assert {repaired(bad(namespace, run)) for run in RUNS} <= set(system.delivered().values())


def bad(namespace: str, run: int) -> bytes:
    upgraded = {"_producer": "https://example.com/retail/2.0", "_schemaURL": "upgraded facet"}
    return run_event(run, job={"namespace": namespace, "name": "orders.daily", "facets": {"upgraded": upgraded}})


def repaired(event: bytes) -> bytes:
    return event.replace(b'"upgraded facet"', b'"https://example.com/upgraded.json"')


def rejected(typed: Callable[..., Result]) -> int:
    said: dict[str, Any] = json.loads(typed("status", *STACK, "--json").output)
    return int(said["rejected_by_code"].get("schema_violation", 0))
