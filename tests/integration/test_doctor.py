"""`lineage-adapter doctor` against the local system: well, and with each thing broken in turn, it names that thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.main import group
from local.resources import STACK

if TYPE_CHECKING:
    from tests.integration.running import Running


@pytest.fixture(autouse=True)
def _operator(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def doctor(system: Running, *arguments: str) -> Result:
    return CliRunner().invoke(group, ["doctor", "--endpoint-url", system.aws_url, *arguments])


def states(result: Result) -> dict[str, str]:
    """Give how everything is, by its name."""
    return {one["name"]: one["state"] for one in json.loads(result.stdout)["checks"]}


def test_a_system_that_is_well_is_found_so_and_its_canary_arrives(system: Running) -> None:
    result = doctor(system, "--stack", STACK, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 0, result.stdout
    # The adapter itself is open here, its alarms tell nobody, and reconciliation comes in five minutes.
    assert set(states(result).values()) == {"ok", "warning", "skipped"}
    assert {name for name, state in states(result).items() if state == "warning"} <= {"alarm topic", "reconciliation"}
    (said,) = [one["said"] for one in found["checks"] if one["name"] == "canary"]
    assert "SUCCESS" in said
    assert "byte for byte" in said
    assert any(b"lineage-adapter.doctor" in raw for raw in system.delivered().values())
    assert all(system.url in one["text"] for one in found["emitters"])


def test_an_address_alone_is_enough_for_what_emitters_meet(system: Running) -> None:
    result = doctor(system, "--url", system.url, "--no-canary")
    assert result.exit_code == 0, result.stdout
    assert "warning        access" in result.stdout
    assert "producers" not in result.stdout
    assert f"export OPENLINEAGE_URL={system.url}" in result.stdout
