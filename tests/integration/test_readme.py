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
    from tests.integration.running import Running

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = dict(enumerate(re.findall(r"```bash\n(.*?)```", README, re.DOTALL)))
COMMANDS = [line for block in BLOCKS.values() for line in block.splitlines()]
# These are run elsewhere: `make run` is the system itself, `make test` this very run, and deploying takes an account
# (tests/unit/test_deploy.py has what can be shown without one).
ELSEWHERE = ("make run", "make test", "make deploy")
# Posting every sample ends with status 1, as the README says: some are invalid on purpose.
STATUS = {"lineage-adapter replay events": 1}


def _here(system: Running, text: str) -> str:
    return text.replace("http://127.0.0.1:8080", system.url).replace("http://127.0.0.1:4566", system.aws_url)


def test_commands_are_found() -> None:
    assert len(COMMANDS) >= 7
    assert all(f"```bash\n{command}\n```" in README for command in ELSEWHERE)


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in ELSEWHERE])
def test_a_command_does_what_the_readme_says(
    system: Running, command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    ran = subprocess.run(  # noqa: S603 - the README's own lines
        ["bash", "-c", _here(system, command)],  # noqa: S607 - the shell a reader has
        cwd=ROOT,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
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
    assert len(set(system.delivered()) - before) == 1
