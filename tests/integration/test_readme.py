"""Every command that the README shows is run, against the local system."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

from tests.integration.running import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.running import Running

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = [block.splitlines() for block in re.findall(r"```bash\n(.*?)```", README, re.DOTALL)]
# These are run elsewhere: `make run` is the system itself, `make test` this very run, and deploying takes an account
# (tests/unit/test_deploy.py has what can be shown without one).
ELSEWHERE = ("make run", "make test", "make deploy")
# Posting every sample ends with status 1, as the README says: some are invalid on purpose.
STATUS = {"lineage-adapter replay events": 1}


def _here(system: Running, text: str) -> str:
    return text.replace("http://127.0.0.1:8080", system.url).replace("http://127.0.0.1:4566", system.aws_url)


def test_commands_are_found() -> None:
    assert len(BLOCKS) >= 7
    assert all([command] in BLOCKS for command in ELSEWHERE)


@pytest.fixture
def well(system: Running) -> Iterator[Running]:
    """Give the shared system, and end the harm that a block of commands that did not get to its end has left."""
    yield system
    system.faults("DELETE")


@pytest.mark.parametrize("commands", [block for block in BLOCKS if block[0] not in ELSEWHERE], ids=" ; ".join)
def test_commands_do_what_the_readme_says(well: Running, commands: list[str], tmp_path: Path) -> None:
    """Block by block, since some put a fault, show what it does and take it away."""
    for command in commands:
        ran = subprocess.run(  # noqa: S603 - the README's own lines
            ["bash", "-c", _here(well, command)],  # noqa: S607 - the shell a reader has
            cwd=ROOT,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(tmp_path)},
            capture_output=True,
            check=False,
            text=True,
            timeout=180,
        )
        expected = next((status for part, status in STATUS.items() if part in command), 0)
        assert ran.returncode == expected, ran.stdout + ran.stderr
        assert ran.stdout


def test_the_python_client_shown_delivers(system: Running) -> None:
    (shown,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(_here(system, shown), names)  # noqa: S102 - the README's own lines
    before = set(system.delivered())
    client = names["client"]
    assert isinstance(client, OpenLineageClient)
    client.emit(
        RunEvent(
            eventType=RunState.START,
            eventTime="2026-11-29T10:00:00Z",
            run=Run("01890000-0000-7000-8000-00000000abcd"),
            job=Job("retail", "shown"),
            producer="https://example.com/retail",
        )
    )
    # What waited in the backlog may arrive at the same moment.
    new = [raw for one, raw in system.delivered().items() if one not in before]
    assert len([raw for raw in new if b'"shown"' in raw]) == 1
