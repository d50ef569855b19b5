"""Airflow and Cosmos, configured as their pages say: one real Airflow runs the DAGs of both."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emitters import page
from tests.emitters.standalone import Airflow, standalone
from tests.integration.running import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emitters.environments import Environment
    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

HERE = Path(__file__).parent
MWAA_DAGS = "/usr/local/airflow/dags"
type Event = dict[str, Any]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give Airflow's home: both pages' DAGs, the dbt project, and a place for the client's files."""
    home = tmp_path_factory.mktemp("airflow")
    shutil.copytree(HERE / "airflow", home / "dags")
    shutil.copytree(HERE / "dbt", home / "dags" / "retail")
    profile = home / "dags" / "retail" / "profiles.yml"
    # dbt runs in a copy of the project, a new one for each task; the warehouse is to be one.
    profile.write_text(profile.read_text().replace("warehouse.duckdb", str(home / "warehouse.duckdb")))
    dag = page.block("cosmos", "retail_dbt.py").replace(MWAA_DAGS, str(home / "dags"))
    (home / "dags" / "retail_dbt.py").write_text(dag)
    (home / "emitted").mkdir()
    return home


@pytest.fixture(scope="module")
def airflow(install: Callable[[str], Environment], system: Running, home: Path) -> Iterator[Airflow]:
    options = mwaa(page.block("airflow", "options", url=system.url))
    transport = "AIRFLOW__OPENLINEAGE__TRANSPORT"
    count = {"type": "file", "log_file_path": str(home / "emitted" / "event"), "append": False}
    options[transport] = json.dumps({"type": "composite", "transports": [json.loads(options[transport]), count]})
    with standalone(install("airflow"), home, options) as running:
        yield running


def mwaa(options: str) -> dict[str, str]:
    """Make environment variables of configuration options, as MWAA does."""
    pairs = [line.split(" = ", 1) for line in options.splitlines()]
    return {f"AIRFLOW__{name.replace('.', '__').upper()}": value for name, value in pairs}


def emitted(home: Path, *dags: str) -> list[bytes]:
    """Give what the client wrote beside what it sent, of these DAGs: a file for each event, as processes are many."""
    files = [file.read_bytes().rstrip(b"\n") for file in (home / "emitted").iterdir()]
    return [raw for raw in files if json.loads(raw)["job"]["name"].split(".")[0] in dags]


def run(airflow: Airflow, home: Path, *dags: str) -> dict[str, str]:
    """Run the DAGs, until the last event of each has been written: the scheduler sends it when the run has ended."""
    states = airflow.run(*dags)
    ends = {(dag, "COMPLETE" if state == "success" else "FAIL") for dag, state in states.items()}
    until(lambda: ends <= {kind(json.loads(raw)) for raw in emitted(home, *dags)})
    return states


def kind(event: Event) -> tuple[str, str]:
    return event["job"]["name"], event["eventType"]


def test_every_event_arrives_as_it_left(airflow: Airflow, home: Path, ledger: Ledger) -> None:
    """Two DAGs under the scheduler: a task that is tried again, one with datasets, one that fails."""
    dags = ("retail_daily", "retail_broken")
    assert run(airflow, home, *dags) == {"retail_daily": "success", "retail_broken": "failed"}
    left = emitted(home, *dags)
    ledger.closes(left)
    events = [json.loads(raw) for raw in left]
    assert Counter(map(kind, events)) == {
        ("retail_daily", "START"): 1,
        ("retail_daily.wait", "START"): 2,
        ("retail_daily.wait", "FAIL"): 1,
        ("retail_daily.wait", "COMPLETE"): 1,
        ("retail_daily.load", "START"): 1,
        ("retail_daily.load", "COMPLETE"): 1,
        ("retail_daily", "COMPLETE"): 1,
        ("retail_broken", "START"): 1,
        ("retail_broken.check", "START"): 1,
        ("retail_broken.check", "FAIL"): 1,
        ("retail_broken", "FAIL"): 1,
    }
    assert {event["job"]["namespace"] for event in events} == {"retail"}
    tasks = [event for event in events if "." in event["job"]["name"]]
    assert {task["run"]["facets"]["parent"]["job"]["name"] for task in tasks} == set(dags)
    (check,) = (event for event in tasks if kind(event) == ("retail_broken.check", "FAIL"))
    assert check["run"]["facets"]["errorMessage"]["message"] == "order 4 has no store"
    (load,) = (event for event in tasks if kind(event) == ("retail_daily.load", "COMPLETE"))
    assert [one["name"] for one in load["inputs"] + load["outputs"]] == [
        "/warehouse/raw/orders.csv",
        "/warehouse/mart/revenue.csv",
    ]


def test_what_cosmos_renders_arrives_with_dbts_datasets(airflow: Airflow, home: Path, ledger: Ledger) -> None:
    """The dbt project as Airflow tasks; its failing test, on orders without a store, fails the DAG."""
    assert run(airflow, home, "retail_dbt") == {"retail_dbt": "failed"}
    left = emitted(home, "retail_dbt")
    ledger.closes(left)
    ended = {event["job"]["name"]: event for event in map(json.loads, left) if event["eventType"] != "START"}
    assert ended["retail_dbt.orders.run"]["eventType"] == "COMPLETE"
    assert [one["name"] for one in ended["retail_dbt.orders.run"]["outputs"]] == ["warehouse.sales.orders"]
    assert ended["retail_dbt.orders.test"]["eventType"] == "FAIL"
