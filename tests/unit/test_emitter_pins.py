"""docs/emitters/README.md names the versions that are run, and each emitter's environment is locked to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.emitters.environments import REQUIREMENTS, ROOT
from tests.emitters.jvm import HERE
from tests.emitters.page import PAGES, table

if TYPE_CHECKING:
    from pathlib import Path

WANTED = sorted(REQUIREMENTS.glob("*.in"))
PIN = re.compile(r"([a-z0-9._-]+)(?:\[[a-z0-9,_-]+\])?==(\S+)")


POMS = sorted(HERE.glob("*/pom.xml"))
DEPENDENCY = re.compile(
    r"<dependency>\s*<groupId>.*</groupId>\s*<artifactId>(.*)</artifactId>\s*<version>(.*)</version>"
)


def pins(file: Path) -> list[tuple[str, str]]:
    lines = file.read_text().splitlines()
    return [(found[1], found[2]) for line in lines if (found := PIN.match(line))]


@pytest.mark.parametrize("wanted", WANTED, ids=lambda path: path.stem)
def test_the_page_names_the_versions_that_are_run(wanted: Path) -> None:
    page = (PAGES / "README.md").read_text()
    assert [f"{name} {version}" for name, version in pins(wanted) if f"{name} {version}" not in page] == []


@pytest.mark.parametrize("wanted", WANTED, ids=lambda path: path.stem)
def test_what_is_installed_is_what_is_wanted_exactly(wanted: Path) -> None:
    """Everything wanted has an exact version, and everything installed a hash."""
    locked = wanted.with_suffix(".txt")
    asked = [line for line in wanted.read_text().splitlines() if line and not line.startswith("#")]
    assert len(pins(wanted)) == len(asked)
    assert set(pins(wanted)) <= set(pins(locked))
    assert len(re.findall(r"== ?\S+(?: ;.*)? \\\n    --hash=sha256:", locked.read_text())) == len(pins(locked))


@pytest.mark.parametrize("pom", POMS, ids=lambda path: path.parent.name)
def test_the_page_names_the_jars_that_are_run(pom: Path) -> None:
    page = (PAGES / "README.md").read_text()
    found = DEPENDENCY.findall(pom.read_text())
    assert found
    assert [f"{name} {version}" for name, version in found if f"{name} {version}" not in page] == []


@pytest.mark.parametrize(("readme", "folder"), [(PAGES / "README.md", ""), (ROOT / "README.md", "docs/emitters/")])
def test_each_page_is_listed(readme: Path, folder: str) -> None:
    pages = [one.name for one in PAGES.glob("*.md") if one.name != "README.md"]
    assert [one for one in pages if f"({folder}{one})" not in readme.read_text()] == []


def test_both_clients_urls_are_those_of_their_pages() -> None:
    """Each of those tables is what was run; this one puts them side by side."""
    java = {url: path for url, path, *_ in table("java", "Where it posts to")}
    python = {url: path for url, endpoint, path in table("python", "What it makes of the URL") if not endpoint}
    rows = table("README", "The URL")
    assert [(url, python[url], java[url]) for url, *_ in rows] == [tuple(row) for row in rows]
