"""Dagster with its published package, configured as docs/emitters/dagster.md says; it sends DatasetEvents too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters import page
from tests.emitters.client import tee
from tests.emitters.ledger import Ledger, lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.environments import Environment
    from tests.integration.running import Running

ASSETS = Path(__file__).parent / "dagster" / "assets.py"
QUIET = "\ntelemetry:\n  enabled: false\n"


def test_every_event_arrives_as_it_left_but_an_observation(
    install: Callable[[str], Environment], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """Assets, a check and a failure; the observation is a DatasetEvent, which DataZone does not take: it is kept."""
    shutil.copy(ASSETS, tmp_path)
    (tmp_path / "dagster.yaml").write_text(page.block("dagster", "dagster.yaml") + QUIET)
    shown = page.block("dagster", "openlineage.yml", url=system.url)
    (tmp_path / "openlineage.yml").write_text(tee(shown, tmp_path / "emitted"))
    command = ("dagster", "asset", "materialize", "-f", ASSETS.name, "--select", "*")
    install("dagster").run(*command, cwd=tmp_path, status=1, variables={"DAGSTER_HOME": str(tmp_path)})
    emitted = lines(tmp_path / "emitted")
    events = [json.loads(raw) for raw in emitted]
    observations = [raw for raw, event in zip(emitted, events, strict=True) if "dataset" in event]
    assert len(observations) == 1
    ledger.closes(emitted, findings=dict.fromkeys(observations, "unsupported_kind"))
    runs = [event for event in events if "run" in event]
    assert {event["job"]["namespace"] for event in runs} == {"retail"}
    assert {(event["job"]["name"], event["eventType"]) for event in runs} >= {
        *((name, "START") for name in ("orders", "revenue", "broken")),
        ("orders", "COMPLETE"),
        ("orders__checks", "COMPLETE"),
        ("revenue", "COMPLETE"),
        ("broken", "FAIL"),
    }
