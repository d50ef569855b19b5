"""SECURITY.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/\S+\.py)::(test_\w+)`", PAGE)
ROW = re.compile(r"^\| (?!---|what |trusted )(.+) \|$", re.MULTILINE)


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_named_test_exists(path: str, name: str) -> None:
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_each_line_is_shown_by_a_test_or_says_that_it_is_possible() -> None:
    attacks = PAGE[PAGE.index("## Public HTTP") :]
    rows = [row for row in ROW.findall(attacks) if "::" not in row]
    assert [row for row in rows if "**" not in row] == []
    assert len(NAMED) > 40
