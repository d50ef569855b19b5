"""dbt-ol over DuckDB, configured as docs/emitters/dbt.md says: a seed, models, a snapshot, tests that pass and fail."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emitters import page
from tests.emitters.client import LOG_EVENTS, logged, tee
from tests.emitters.ledger import Ledger, lines
from tests.emitters.recorder import passing, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.environments import Environment
    from tests.integration.running import Running

# What is run, and how it ends: order 4 has no store, and `broken` selects a column that does not exist.
COMMANDS = {("seed",): 0, ("run",): 0, ("snapshot",): 0, ("test",): 1, ("run", "--vars", "broken: true"): 1}


@pytest.fixture(scope="module")
def dbt(install: Callable[[str], Environment]) -> Environment:
    return install("dbt")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a copy of the project, without a warehouse yet."""
    return Path(shutil.copytree(Path(__file__).parent / "dbt", tmp_path / "project"))


def counted(output: str) -> int:
    """Give how many events dbt-ol says it emitted."""
    return sum(map(int, re.findall(r"Emitted (\d+) OpenLineage events", output)))


def test_every_event_arrives_as_it_left(dbt: Environment, project: Path, system: Running, ledger: Ledger) -> None:
    """With openlineage.yml as the page has it, the client's own file beside it as the count."""
    shown = page.block("dbt", "openlineage.yml", url=system.url)
    (project / "openlineage.yml").write_text(tee(shown, project / "emitted"))
    output = "".join(dbt.run("dbt-ol", *command, cwd=project, status=status) for command, status in COMMANDS.items())
    emitted = lines(project / "emitted")
    assert len(emitted) == counted(output)
    ledger.closes(emitted)
    holds_what_dbt_is_run_for([json.loads(raw) for raw in emitted])


def holds_what_dbt_is_run_for(events: list[dict[str, Any]]) -> None:
    """Assert that the run had everything in it that a real one has."""
    jobs = {(event["job"]["name"], event["eventType"]) for event in events}
    assert jobs >= {
        # Of a seed dbt-ol tells no more than that dbt ran.
        ("dbt-run-retail", "COMPLETE"),
        ("warehouse.sales.retail.daily_revenue", "COMPLETE"),
        ("warehouse.sales.retail.orders_over_time.snapshot", "COMPLETE"),
        ("warehouse.sales.retail.orders.test", "FAIL"),
        ("warehouse.sales.retail.broken", "FAIL"),
    }
    inputs = [one for event in events for one in event["inputs"]]
    checks = [
        check
        for one in inputs
        for check in one.get("inputFacets", {}).get("dataQualityAssertions", {}).get("assertions", [])
    ]
    assert Counter(check["success"] for check in checks).keys() == {True, False}


def test_events_that_leave_while_dbt_runs_arrive_too(
    dbt: Environment, project: Path, system: Running, ledger: Ledger
) -> None:
    """dbt-ol's other mode reads dbt's log and sends each event at once; its seed has events of its own."""
    shown = page.block("dbt", "openlineage.yml", url=system.url)
    (project / "openlineage.yml").write_text(tee(shown, project / "emitted"))
    for command, status in COMMANDS.items():
        dbt.run("dbt-ol", "--consume-structured-logs", *command, cwd=project, status=status)
    emitted = lines(project / "emitted")
    ledger.closes(emitted)
    jobs = {(event["job"]["name"], event["eventType"]) for event in map(json.loads, emitted)}
    assert jobs >= {("seed.retail.raw_orders", "COMPLETE"), ("model.retail.broken", "FAIL")}


def test_the_environment_alone_is_enough(dbt: Environment, project: Path, system: Running, ledger: Ledger) -> None:
    """With the page's variables; counted by the client's own log and by dbt-ol."""
    with recording(passing(system.url)) as recorder:
        *exports, command = page.block("dbt", "environment", url=recorder.url).splitlines()
        variables = dict(line.removeprefix("export ").split("=", 1) for line in exports) | LOG_EVENTS
        dbt.run("dbt-ol", "seed", cwd=project)
        output = dbt.run(*command.split(), cwd=project, variables=variables)
    emitted = logged(output)
    assert len(emitted) == counted(output)
    ledger.closes(emitted)
    assert [asked.body for asked in recorder.asked] == emitted
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}
    assert set(recorder.statuses) == {200}
    assert {json.loads(raw)["job"]["namespace"] for raw in emitted} == {"retail"}
