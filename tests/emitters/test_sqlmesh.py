"""SQLMesh with its published package, configured as docs/emitters/sqlmesh.md says; its `producer` is no URI."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.emitters import page
from tests.emitters.client import tee
from tests.emitters.ledger import Ledger, lines
from tests.emitters.recorder import passing, recording
from tests.integration.running import start

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.environments import Environment
    from tests.integration.running import Running

PLAN = ("sqlmesh", "plan", "--auto-apply", "--no-prompts")
CONFIG = """
from sqlmesh.core.config import Config, DuckDBConnectionConfig, GatewayConfig, ModelDefaultsConfig

config = Config(
    gateways={"local": GatewayConfig(connection=DuckDBConnectionConfig(database="warehouse.duckdb"))},
    model_defaults=ModelDefaultsConfig(dialect="duckdb", start="2026-11-01"),
    disable_anonymized_analytics=True,
)
"""


@pytest.fixture(scope="module")
def sqlmesh(install: Callable[[str], Environment]) -> Environment:
    return install("sqlmesh")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a copy of the project, without a configuration yet."""
    return Path(shutil.copytree(Path(__file__).parent / "sqlmesh", tmp_path / "project"))


def configure(project: Path, url: str) -> None:
    """Write what the page shows."""
    (project / "config.py").write_text(page.block("sqlmesh", "lineage.py", url=url) + CONFIG)
    (project / "openlineage.yml").write_text(page.block("sqlmesh", "openlineage.yml", url=url))


def test_where_formats_are_asserted_its_events_are_kept_and_the_plan_fails(
    sqlmesh: Environment, project: Path, system: Running, ledger: Ledger
) -> None:
    """Each event is in the quarantine for its producer. The package lets its client's error through."""
    with recording(passing(system.url)) as recorder:
        configure(project, recorder.url)
        output = sqlmesh.run(*PLAN, cwd=project, status=1)
    assert "HTTPError: 422" in output
    emitted = [asked.event for asked in recorder.asked]
    assert {json.loads(raw)["producer"] for raw in emitted} == {"sqlmesh-openlineage"}
    errors = [json.loads(answer.body)["errors"] for _, answer in recorder.exchanges]
    assert {(error["path"], error["rule"]) for answered in errors for error in answered} == {("/producer", "format")}
    ledger.closes([], findings=dict.fromkeys(emitted, "schema_violation"))


def test_where_they_only_warn_every_event_arrives_as_it_left(sqlmesh: Environment, project: Path) -> None:
    """With FormatAssertion=warn, the client's own file beside the page's transport as the count."""
    system = start(project / "terminal", "FormatAssertion=warn", "StreamBatchWindow=0")
    try:
        ledger = Ledger(system)
        configure(project, system.url)
        shown = (project / "openlineage.yml").read_text()
        (project / "openlineage.yml").write_text(tee(shown, project / "emitted"))
        sqlmesh.run(*PLAN, cwd=project)
        emitted = lines(project / "emitted")
        ledger.closes(emitted)
    finally:
        assert system.stop() == 0
    events = [json.loads(raw) for raw in emitted]
    assert Counter(event["eventType"] for event in events) == {"START": 2, "COMPLETE": 2}
    assert {event["job"]["namespace"] for event in events} == {"retail"}
    revenue = [event for event in events if "revenue" in event["job"]["name"]]
    assert all({"schema", "columnLineage"} <= event["outputs"][0]["facets"].keys() for event in revenue)
