"""docs/operate.md says what the code and the template are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from cli.main import group
from cli.verify import Result
from tools.translate import template

OPERATE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()


def test_every_result_of_verify_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", OPERATE, re.MULTILINE)) >= set(Result)


@pytest.mark.parametrize("line", sorted(set(re.findall(r"^(?:\$ )?lineage-adapter (.+)$", OPERATE, re.MULTILINE))))
def test_every_command_shown_can_be_typed(line: str) -> None:
    """Each command there is has the options that it is shown with."""
    words = shlex.split(line)
    command = group.commands[words.pop(0)]
    if hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_outputs_and_parameters_named_exist() -> None:
    named = set(re.findall(r"`(\w+(?:BucketName|LogGroupName))`", OPERATE))
    assert named <= set(template()["Outputs"])
    assert "ArchiveEvents" in template()["Parameters"]
