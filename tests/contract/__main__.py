"""Post generated requests to the running adapter and hold each answer to schemas/openapi.yaml.

    python -m tests.contract SECONDS SCHEMATHESIS

SCHEMATHESIS is its program, which has an environment of its own: it wants another jsonschema-rs than the adapter.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.contract.description import write_open
from tests.integration.running import Running, start

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
# A machine with two cores has the adapter, the local AWS and schemathesis to run.
WORKERS = "2"


def main() -> int:
    """Try an open deployment; 0 where every answer was as described."""
    seconds, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        system = start(folder / "terminal", "StreamBatchWindow=0")
        try:
            return _tried(program, seconds, write_open(folder), system)
        finally:
            system.stop()


def _tried(program: str, seconds: str, description: Path, system: Running) -> int:
    return subprocess.run(  # noqa: S603 - schemathesis, installed by the Makefile
        [
            *(program, "--config-file", str(CONFIGURATION), "run", str(description), "--url", system.url),
            *("--checks", "all", "--phases", "examples,coverage,fuzzing", "--workers", WORKERS),
            *("--max-time", seconds, "--seed", "1", "--generation-database", "none", "--continue-on-failure"),
        ],
        # It keeps notes where it runs.
        cwd=description.parent,
        check=False,
    ).returncode


sys.exit(main())
