"""The configuration a page of docs/emitters/ gives to a reader: the one that is tested is the one that is shown.

A block is fenced and named after its language: ```` ```yaml openlineage.yml ````.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

PAGES = Path(__file__).parents[2] / "docs" / "emitters"

# What a reader replaces by their own: the deployment's URL, and the token of the producer.
URL = "https://abc123.execute-api.eu-central-1.amazonaws.com"
TOKEN = "TOKEN"


def block(page: str, name: str, url: str = URL, token: str = TOKEN) -> str:
    """Give the block called `name` of docs/emitters/<page>.md, with `url` and `token` in the place of the reader's."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    found: list[str] = re.findall(rf"^```\w+ {re.escape(name)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{page}.md has {len(found)} blocks called {name}"
    return found[0].replace(URL, url).replace(TOKEN, token)


def table(page: str, heading: str) -> list[list[str]]:
    """Give the cells of the first table below `heading`, row by row, without its own head and back-ticks."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    rows = itertools.takewhile(_is_row, itertools.dropwhile(lambda line: not _is_row(line), text.splitlines()))
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows][2:]


def _is_row(line: str) -> bool:
    return line.startswith("|")
