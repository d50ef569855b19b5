"""Prefect with its published listener, configured as docs/emitters/prefect.md says, beside a real server."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters import page
from tests.emitters.client import tee
from tests.emitters.ledger import Ledger, lines
from tests.emitters.service import Service, free_ports, listening, running

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.environments import Environment
    from tests.integration.running import Running

FLOW = Path(__file__).parent / "prefect" / "retail.py"
DEPLOYMENT = "retail daily/prod"


def says(service: Service, line: str) -> None:
    service.until(lambda: line in service.said())


def run(prefect: Environment, home: Path) -> None:
    """Run the flow once: a server, the page's listener, and the process that serves the deployment."""
    (port,) = free_ports(1)
    variables = {
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_HOME": str(home / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "OPENLINEAGE_NAMESPACE": "retail",
    }
    with ExitStack() as services:

        def beside(name: str, *command: str) -> Service:
            started = running(prefect, *command, cwd=home, terminal=home / f"{name}.log", variables=variables)
            return services.enter_context(started)

        server = beside("server", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port))
        server.until(partial(listening, port))
        # The listener asks for the version once it is subscribed.
        listener = beside("listener", "python", "listener.py")
        says(listener, "/api/admin/version")
        serving = beside("serving", "python", FLOW.name)
        says(serving, "is being served")
        prefect.run("prefect", "deployment", "run", DEPLOYMENT, cwd=home, variables=variables)
        listener.until(partial(ended, home / "emitted"))


def ended(emitted: Path) -> bool:
    """Say whether the flow's last event has been written."""
    events = [json.loads(raw) for raw in lines(emitted)] if emitted.exists() else []
    return any(event["job"]["name"] == "retail daily" and event["eventType"] == "FAIL" for event in events)


def test_every_event_arrives_as_it_left(
    install: Callable[[str], Environment], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """A deployment's run with datasets and a failing task; the client's own file beside the page's transport."""
    shutil.copy(FLOW, tmp_path)
    (tmp_path / "listener.py").write_text(page.block("prefect", "listener.py"))
    shown = page.block("prefect", "openlineage.yml", url=system.url)
    (tmp_path / "openlineage.yml").write_text(tee(shown, tmp_path / "emitted"))
    run(install("prefect"), tmp_path)
    emitted = lines(tmp_path / "emitted")
    ledger.closes(emitted)
    events = [json.loads(raw) for raw in emitted]
    assert {event["job"]["namespace"] for event in events} == {"retail"}
    assert Counter((event["job"]["name"], event["eventType"]) for event in events) == {
        ("retail daily", "START"): 1,
        ("orders", "START"): 1,
        ("orders", "COMPLETE"): 1,
        ("revenue", "START"): 1,
        ("revenue", "COMPLETE"): 1,
        ("broken", "START"): 1,
        ("broken", "FAIL"): 1,
        ("retail daily", "FAIL"): 1,
    }
    (revenue,) = (event for event in events if (event["job"]["name"], event["eventType"]) == ("revenue", "COMPLETE"))
    assert [one["name"] for one in revenue["inputs"] + revenue["outputs"]] == ["orders", "revenue"]
