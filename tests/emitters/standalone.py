"""A whole Airflow on this machine: `airflow standalone` with scheduler, DAG processor, API server and LocalExecutor.

Its database is SQLite, its ports are free ones of the loopback interface, and it is driven by its REST API.
"""

from __future__ import annotations

import json
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

from tests.emitters.service import Service, free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.emitters.environments import Environment

# What a machine with nothing else to do does not need: by default, an API server has 5 seconds to answer, a task 10 to
# report to OpenLineage, a file of DAGs 30 to be read.
PATIENCE = {
    "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
    "AIRFLOW__OPENLINEAGE__EXECUTION_TIMEOUT": "60",
    "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "120",
    "AIRFLOW__DAG_PROCESSOR__DAG_FILE_PROCESSOR_TIMEOUT": "180",
}
QUIET = {
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
    "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
    "AIRFLOW__CORE__PARALLELISM": "2",
    "AIRFLOW__API__WORKERS": "1",
    "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
}


@dataclass(frozen=True, slots=True)
class Airflow:
    """A running Airflow and the port of its API."""

    service: Service
    port: int

    def run(self, *dags: str) -> dict[str, str]:
        """Trigger `dags` together and wait; give the state in which the run of each ended."""
        for dag in dags:
            self.service.until(partial(self.ask, "GET", f"/api/v2/dags/{dag}"))
            assert self.ask("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None}), self.service.said()
        return {dag: self.service.until(partial(self._ended, dag)) for dag in dags}

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - Airflow's JSON
        """Ask the API; give its answer, or None while it has none."""
        with suppress(OSError), closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read()
            return json.loads(said) if response.status == 200 else None
        return None

    def _ended(self, dag: str) -> str:
        runs = self.ask("GET", f"/api/v2/dags/{dag}/dagRuns") or {"dag_runs": []}
        return next((run["state"] for run in runs["dag_runs"] if run["state"] in {"success", "failed"}), "")


@contextmanager
def standalone(environment: Environment, home: Path, variables: Mapping[str, str]) -> Iterator[Airflow]:
    """Run Airflow in `home`, whose `dags` are its DAGs, with `variables`."""
    port, *logs = free_ports(3)
    settings = PATIENCE | QUIET | _places(home, port, *logs) | dict(variables)
    with running(
        environment, "airflow", "standalone", cwd=home, terminal=home / "terminal", variables=settings
    ) as service:
        yield Airflow(service, port)


def _places(home: Path, port: int, worker_logs: int, trigger_logs: int) -> dict[str, str]:
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(worker_logs),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(trigger_logs),
    }
