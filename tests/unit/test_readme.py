"""The README says what the template, the code and the repository are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapter.doors import answers
from adapter.doors.http import BATCH_PATH, EVENT_PATHS, HEALTH_PATH
from tools.translate import template

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()


def _rows(heading: str) -> list[list[str]]:
    """Read the table under the header row `heading`, cell by cell."""
    table = README.split(heading, 1)[1].split("\n\n", 1)[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def test_every_parameter_is_listed_with_its_default() -> None:
    listed = {name.strip("`"): default.strip("`") for name, default, _ in _rows("| parameter | default |")}
    parameters = template()["Parameters"]
    assert listed == {
        name: str(parameter["Default"])
        if parameter.get("Default", "") != ""
        else ("" if "Default" in parameter else "required")
        for name, parameter in parameters.items()
    }


def test_every_code_is_listed_with_its_status() -> None:
    listed: dict[str, str] = {}
    for _, statuses, codes in _rows("| what happened | status |"):
        listed |= dict(zip(re.findall(r"\w+", codes), re.findall(r"\d+", statuses), strict=False))
    answered = {code.value: str(status) for code, (status, _) in answers.STATUSES.items() if status >= 400}
    answered |= {"unauthenticated": "401", "unknown_producer": "403"}
    assert listed == answered | {"not_found": "404", "method_not_allowed": "405", "unavailable": "503"}


@pytest.mark.parametrize("path", [*EVENT_PATHS, BATCH_PATH, HEALTH_PATH])
def test_every_path_is_named(path: str) -> None:
    assert f"`{path}`" in README or f" {path}`" in README


def test_every_make_target_shown_exists() -> None:
    shown = set(re.findall(r"^make ([a-z-]+)", README, re.MULTILINE)) | set(re.findall(r"`make ([a-z-]+)", README))
    assert {"run", "test", "deploy"} <= shown
    assert shown <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_every_file_and_folder_named_is_there() -> None:
    named = re.findall(r"`((?:adapter|events|schemas|cli|local|tests|docs)/[\w./-]*|[\w.]+\.(?:yaml|md))`", README)
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists() or list(ROOT.glob(f"tests/{name}")), name
