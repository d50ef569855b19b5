"""docs/operate.md says what the code and the template are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from cli.main import group
from cli.verify import Result
from tools.translate import template

OPERATE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()


def test_every_result_of_verify_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", OPERATE, re.MULTILINE)) >= set(Result)


# A line of a block, or a command with options in a sentence; a bare name in a sentence only names it.
SHOWN = re.findall(r"^(?:\$ )?lineage-adapter (.+)$", OPERATE, re.MULTILINE)
SAID = re.findall(r"`lineage-adapter ([^`]+ --[^`]+)`", OPERATE)


@pytest.mark.parametrize("line", sorted({*SHOWN, *SAID}))
def test_every_command_shown_can_be_typed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program itself reads each, with its options, their values and its arguments; nothing is done."""
    monkeypatch.chdir(tmp_path)
    Path("event.json").touch()
    Path("repaired").mkdir()
    command: click.Command = group
    words = shlex.split(line)
    while isinstance(command, click.Group):
        command = command.commands[words.pop(0)]
    command.make_context(line, words)


@pytest.mark.parametrize(
    "line", ["status --since soon", "backlog redrive --stak x", "verify", "quarantine show --stack x"]
)
def test_what_cannot_be_typed_would_be_noticed(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(click.UsageError):
        test_every_command_shown_can_be_typed(line, tmp_path, monkeypatch)


def test_every_alarm_has_its_section_with_commands_and_every_section_its_alarm() -> None:
    chapter = OPERATE.split("\n## When an alarm fires\n", 1)[1].split("\n## ", 1)[0]
    alarms = {name for name, one in template()["Resources"].items() if one["Type"] == "AWS::CloudWatch::Alarm"}
    sections = re.findall(r"^### (.+)$", chapter, re.MULTILINE)
    assert sorted(sections) == sorted(alarms)
    assert all("\nlineage-adapter " in text for text in chapter.split("\n### ")[1:])


def test_every_query_that_is_to_be_asked_is_saved() -> None:
    saved = {
        one["Properties"]["Name"]["Fn::Sub"].removeprefix("${AWS::StackName}/")
        for one in template()["Resources"].values()
        if one["Type"] == "AWS::Logs::QueryDefinition"
    }
    asked = {" ".join(name.split()) for name in re.findall(r"query\s+`([^`]+)`", OPERATE)}
    assert asked == saved


def test_outputs_and_parameters_named_exist() -> None:
    named = set(re.findall(r"`(\w+(?:BucketName|LogGroupName))`", OPERATE))
    assert named <= set(template()["Outputs"])
    assert "ArchiveEvents" in template()["Parameters"]
