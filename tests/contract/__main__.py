"""Post generated requests to the running adapter and hold each answer to schemas/openapi.yaml.

    python -m tests.contract SECONDS SCHEMATHESIS

It is tried twice, for SECONDS each: open to all, and asking for a token. SCHEMATHESIS is its program, which has an
environment of its own: it wants another jsonschema-rs than the adapter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.contract.description import SCHEMAS, write_open
from tests.integration.running import start, token

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
# A machine with two cores has the adapter, the local AWS and schemathesis to run.
WORKERS = "2"


def main() -> int:
    """Try both deployments; 0 where every answer was as described."""
    seconds, program = sys.argv[1:]
    return max(_tried(program, seconds, auth) for auth in ("off", "on"))


def _tried(program: str, seconds: str, auth: str) -> int:
    print(f"== AUTH={auth}", flush=True)  # noqa: T201 - for whoever waits for it
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        system = start(folder / "terminal", "StreamBatchWindow=0", AUTH=auth)
        try:
            description = write_open(folder) if auth == "off" else SCHEMAS / "openapi.yaml"
            bearer = f"Bearer {token(system)}" if auth == "on" else ""
            asked = [program, str(description), "--url", system.url, "--max-time", seconds]
            status = _schemathesis(asked, bearer, folder)
            delivered = len(system.delivered())
            print(f"{delivered} events are in DataZone", flush=True)  # noqa: T201 - the same
            # All refused would be as described, too.
            return status if delivered else 1
        finally:
            system.stop()


def _schemathesis(asked: list[str], bearer: str, folder: Path) -> int:
    program, *more = asked
    configuration = folder / "schemathesis.toml"
    headers = '[headers]\nAuthorization = "${BEARER}"\n\n' if bearer else ""
    configuration.write_text(headers + CONFIGURATION.read_text(encoding="utf-8"), encoding="utf-8")
    return subprocess.run(  # noqa: S603 - schemathesis, installed by the Makefile
        [
            *(program, "--config-file", str(configuration), "run", *more),
            *("--checks", "all", "--phases", "examples,coverage,fuzzing", "--workers", WORKERS),
            *("--seed", "1", "--generation-database", "none", "--continue-on-failure"),
        ],
        # It keeps notes where it runs.
        cwd=folder,
        # Not among the arguments, which everybody on the machine can read.
        env={**os.environ, "BEARER": bearer},
        check=False,
    ).returncode


sys.exit(main())
