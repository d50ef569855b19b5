"""What one request or one batch costs a function: `costs` in a test, and the process of its own that it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter.doors.http import HttpDoor
from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.telemetry import Telemetry
from tests.fakes import FakeBacklog, FakeLineage, FakeQuarantine, callers, run_event

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
# The kernel's own peak of this process. resource.getrusage would tell the parent's, if that was larger when it forked.
STATUS = Path("/proc/self/status")
KILOBYTES = 1024


@dataclass(frozen=True, slots=True)
class Cost:
    """The answer, the processor seconds it took and by how many MB memory grew at its peak.

    That to a batch of the stream counts as 200; its body is the partial batch response.
    """

    status: int
    body: Mapping[str, Any]
    seconds: float
    megabytes: float


def costs(envelopes: Mapping[str, Mapping[str, Any]], folder: Path) -> dict[str, Cost]:
    """Have each of `envelopes` answered by a process with nothing but a door in it."""
    for name, envelope in envelopes.items():
        (folder / f"{name}.json").write_text(json.dumps(envelope), encoding="utf-8")
    subprocess.run(  # noqa: S603 - this interpreter, on this module
        [sys.executable, "-m", "tests.hostile.measured", str(folder)],
        cwd=ROOT,
        env={"POWERTOOLS_SERVICE_NAME": "hostile", "POWERTOOLS_METRICS_NAMESPACE": "hostile"},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )
    return {name: Cost(**json.loads((folder / f"{name}.cost").read_bytes())) for name in envelopes}


def main() -> None:
    """Answer each envelope of the folder that is named, in a fork of its own, and write down what it cost."""
    for path in sorted(Path(sys.argv[1]).glob("*.json")):
        if os.fork() == 0:
            path.with_suffix(".cost").write_text(json.dumps(_cost(json.loads(path.read_bytes()))), encoding="utf-8")
            os._exit(0)
        os.wait()


def _cost(envelope: Mapping[str, Any]) -> dict[str, object]:
    ingest = Ingest(FakeLineage(), FakeQuarantine(), Telemetry())
    lanes = Lanes(ingest, 4, 2.0)
    http = HttpDoor(ingest, lanes, FakeBacklog(), callers())
    # What the first event ever costs is not this one's fault.
    http({"version": "1.0", "httpMethod": "POST", "path": "/", "body": run_event().decode()}, None)
    before, began = _kilobytes("VmRSS"), time.process_time()
    answer: dict[str, Any] = (
        KinesisDoor(ingest, lanes)(envelope, Minute()) if "Records" in envelope else http(envelope, None)
    )
    seconds, grown = time.process_time() - began, _kilobytes("VmHWM") - before
    body = json.loads(answer["body"]) if "body" in answer else answer
    return {
        "status": answer.get("statusCode", 200),
        "body": body,
        "seconds": seconds,
        "megabytes": grown / KILOBYTES,
    }


class Minute:
    """A Lambda context with time left."""

    def get_remaining_time_in_millis(self) -> int:
        """Give a minute."""
        return 60_000


def _kilobytes(name: str) -> int:
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1])


if __name__ == "__main__":
    main()
