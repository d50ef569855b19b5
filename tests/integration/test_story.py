"""From a failure to a repaired record, as docs/operate.md tells it: an emitter's upgrade sends a bad facet."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import group
from tests.fakes import run_event
from tests.integration.running import Running, until

if TYPE_CHECKING:
    from collections.abc import Callable

STACK = ("--stack", "lineage-adapter")


@pytest.fixture
def typed(system: Running, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Give an operator's shell, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    given = {"AWS_ENDPOINT_URL": system.aws_url, "AWS_DEFAULT_REGION": "us-east-1", "HOME": str(tmp_path / "home")}
    for name, value in (given | {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}).items():
        monkeypatch.setenv(name, value)
    return lambda *words: CliRunner().invoke(group, list(words))


def test_a_bad_facet_is_seen_found_repaired_and_proved(system: Running, typed: Callable[..., Result]) -> None:
    """`status`, `quarantine list`, `show`, a repair, `lint`, `replay`, and `verify` says that it is there."""
    namespace = f"retail-{uuid.uuid4()}"
    before = rejected(typed)
    assert system.post(bad(namespace)).status == 422
    until(lambda: rejected(typed) == before + 1)

    (listed,) = typed("quarantine", "list", *STACK, "--job-namespace", namespace, "--json").output.splitlines()
    found = json.loads(listed)
    assert (found["code"], found["errors"][0]["path"]) == ("schema_violation", "/job/facets/upgraded/_schemaURL")
    assert typed("quarantine", "show", *STACK, found["key"], "--output", "event.json").exit_code == 0
    assert Path("event.json").read_bytes() == bad(namespace)

    Path("event.json").write_bytes(repaired(Path("event.json").read_bytes()))
    assert "accepted" in typed("lint", "event.json").output
    assert "missing 1" in typed("verify", "event.json", *STACK).output
    assert typed("replay", "event.json", "--url", system.url).exit_code == 0
    until(lambda: "SUCCESS" in typed("verify", "event.json", *STACK).output)
    assert typed("verify", "event.json", *STACK).exit_code == 0
    assert repaired(bad(namespace)) in system.delivered().values()


def bad(namespace: str) -> bytes:
    upgraded = {"_producer": "https://example.com/retail/2.0", "_schemaURL": "upgraded facet"}
    return run_event(job={"namespace": namespace, "name": "orders.daily", "facets": {"upgraded": upgraded}})


def repaired(event: bytes) -> bytes:
    return event.replace(b'"upgraded facet"', b'"https://example.com/upgraded.json"')


def rejected(typed: Callable[..., Result]) -> int:
    said: dict[str, Any] = json.loads(typed("status", *STACK, "--json").output)
    return int(said["rejected_by_code"].get("schema_violation", 0))
