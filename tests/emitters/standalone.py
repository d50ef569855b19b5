"""A whole Airflow on this machine: `airflow standalone` with scheduler, DAG processor, API server and LocalExecutor.

Its database is SQLite, its ports are free ones of the loopback interface, and it is driven by its REST API.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tests.emitters.environments import Environment

# Two cores that others use too: coming up, and a run of each DAG.
SECONDS = 600.0
STOP_SECONDS = 60.0

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
    """A running Airflow; `terminal` is the file that holds what all its processes say."""

    process: subprocess.Popen[bytes]
    port: int
    terminal: Path

    def run(self, *dags: str) -> dict[str, str]:
        """Trigger `dags` together and wait; give the state in which the run of each ended."""
        for dag in dags:
            self._until(partial(self.ask, "GET", f"/api/v2/dags/{dag}"))
            assert self.ask("POST", f"/api/v2/dags/{dag}/dagRuns", {"logical_date": None}), self.said()
        return {dag: self._until(partial(self._ended, dag)) for dag in dags}

    def ask(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - Airflow's JSON
        """Ask the API; give its answer, or None while it has none."""
        with suppress(OSError), closing(HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read()
            return json.loads(said) if response.status == 200 else None
        return None

    def said(self) -> str:
        """Give what is on the terminal so far."""
        return self.terminal.read_text(encoding="utf-8", errors="replace")

    def _ended(self, dag: str) -> str:
        runs = self.ask("GET", f"/api/v2/dags/{dag}/dagRuns") or {"dag_runs": []}
        return next((run["state"] for run in runs["dag_runs"] if run["state"] in {"success", "failed"}), "")

    def _until[T](self, check: Callable[[], T]) -> T:
        deadline = time.monotonic() + SECONDS
        while not (found := check()):
            assert self.process.poll() is None, self.said()[-8000:]
            assert time.monotonic() < deadline, self.said()[-8000:]
            time.sleep(0.5)
        return found


@contextmanager
def standalone(environment: Environment, home: Path, variables: Mapping[str, str]) -> Iterator[Airflow]:
    """Run Airflow in `home`, whose `dags` are its DAGs, with `variables`; all its processes have ended afterwards."""
    port, *logs = _free_ports(3)
    terminal = home / "terminal"
    with terminal.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 - an emitter installed here
            [str(environment.home / "bin" / "airflow"), "standalone"],
            cwd=home,
            env=environment.variables(home) | PATIENCE | QUIET | _places(home, port, *logs) | dict(variables),
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Airflow(process, port, terminal)
    finally:
        _stop(process)


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


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, and end what then is left of its session."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [cast("int", one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports
