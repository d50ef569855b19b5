"""Flink 2 with the OpenLineage listener, as docs/emitters/flink.md says: jobs that end well and one that fails."""

from __future__ import annotations

import json
import socket
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters import jvm, page
from tests.emitters.recorder import passing, recording

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

PROGRAM = Path(__file__).parent / "flink" / "Revenue.java"
# What Flink's own start script opens of Java 17, as far as this job needs it, and a log that counts.
OPTIONS = [
    *(f"--add-opens=java.base/java.{one}=ALL-UNNAMED" for one in ("lang", "time", "util")),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.io.openlineage.client.OpenLineageClient=debug",
]


def test_jobs_that_end_well_and_one_that_fails(
    jars: Callable[[str], Path], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """Counted by the client's own log; compressed and with a token."""
    home = jars("flink")
    with recording(passing(system.url)) as recorder:
        shown = page.block("flink", "config.yaml", url=recorder.url)
        (tmp_path / "config.yaml").write_text(shown + rest())
        output = jvm.java().run("java", *OPTIONS, "-cp", f"{home}/*", str(PROGRAM), cwd=tmp_path)
    assert "failed: " in output
    emitted = jvm.logged(output)
    ledger.closes(emitted)
    assert Counter(asked.event for asked in recorder.asked) == Counter(emitted)
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}
    events = [json.loads(raw) for raw in emitted]
    assert Counter(event["eventType"] for event in events) == {"START": 3, "COMPLETE": 2, "FAIL": 1}
    assert len({event["run"]["runId"] for event in events}) == 3
    inputs = [one for event in events for one in event.get("inputs", [])]
    assert {field["name"] for one in inputs for field in one["facets"]["schema"]["fields"]} == {"id", "store", "amount"}


def rest() -> str:
    """Give a cluster of this machine's its REST API, where a real one has it anyway."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return f"rest.address: 127.0.0.1\nrest.port: {port}\nrest.bind-port: {port}\n"
