"""dlt with its published package, configured as docs/emitters/dlt.md says."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters import page
from tests.emitters.client import LOG_EVENTS, logged
from tests.emitters.recorder import passing, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.environments import Environment
    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

QUIET = {"RUNTIME__DLTHUB_TELEMETRY": "false"}
JOB = Path(__file__).parent / "dlt" / "pipeline.py"


def test_every_event_arrives_as_it_left(
    install: Callable[[str], Environment], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """A load with nested data, and an extraction that fails; counted by the client's own log."""
    shutil.copy(JOB, tmp_path)
    with recording(passing(system.url)) as recorder:
        (tmp_path / "lineage.py").write_text(page.block("dlt", "lineage.py", url=recorder.url))
        output = install("dlt").run("python", JOB.name, cwd=tmp_path, variables=QUIET | LOG_EVENTS)
    emitted = logged(output)
    ledger.closes(emitted)
    assert [asked.body for asked in recorder.asked] == emitted
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}
    events = [json.loads(raw) for raw in emitted]
    assert Counter(event["eventType"] for event in events) == {"START": 2, "RUNNING": 1, "COMPLETE": 1, "FAIL": 2}
    assert {(event["job"]["namespace"], event["job"]["name"]) for event in events} == {("retail", "retail_orders")}
    (loaded,) = (event for event in events if event["eventType"] == "COMPLETE")
    assert [one["name"] for one in loaded["outputs"]] == ["raw.orders", "raw.orders__lines"]
    assert all("schema" in one["facets"] for one in loaded["outputs"])
