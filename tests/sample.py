"""The sample events of events/ and what is to become of each; every test that needs real input takes it from here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

EVENTS = Path(__file__).parent.parent / "events"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The contract for one sample, posted alone: the status and, where it is refused, the code and its only error.

    `path` and `rule` are None where the code alone says what is wrong.
    """

    emitter: str
    status: int
    code: str | None = None
    path: str | None = None
    rule: str | None = None


def index() -> dict[str, Expectation]:
    """Read events/index.json: expectations by path below EVENTS."""
    entries = json.loads((EVENTS / "index.json").read_bytes())
    return {name: Expectation(**entry) for name, entry in entries.items()}


def valid() -> list[Path]:
    """Give the samples that are delivered, in the index's order."""
    return [EVENTS / name for name, expected in index().items() if expected.status == 200]


def invalid() -> list[Path]:
    """Give the samples that are refused, in the index's order."""
    return [EVENTS / name for name, expected in index().items() if expected.status != 200]


def padded(event: bytes, size: int) -> bytes:
    """Grow a valid event to exactly `size` bytes with a run facet; raise ValueError where it is larger already."""
    grown = json.loads(event)
    filler = {"_producer": "https://retail.example/filler", "_schemaURL": "https://retail.example/filler.json"}
    grown["run"].setdefault("facets", {})["filler"] = filler | {"text": ""}
    missing = size - len(_compact(grown))
    if missing < 0:
        raise ValueError(f"the event is {-missing} bytes too large")
    grown["run"]["facets"]["filler"]["text"] = "x" * missing
    return _compact(grown)


def _compact(event: object) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode()
