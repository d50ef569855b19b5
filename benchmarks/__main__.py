"""Measures all of it: `python -m benchmarks [MEASUREMENT…]` prints a table and writes it as JSON beside the build."""

# ruff: noqa: T201 - talks to the person who measures

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MEASUREMENTS = ("http", "stream", "aggregate", "refusals", "throttling", "cold", "memory")
_JSON = Path(__file__).parents[1] / ".build" / "bench.json"


def main(chosen: list[str]) -> int:
    """Measure each of `chosen`, or all, in a process of its own; 1 if a row is not what it must be."""
    rows: list[dict[str, Any]] = []
    print("| what | ours | reference | ratio or value | must be | met |\n|---|---|---|---|---|---|")
    for name in chosen or MEASUREMENTS:
        command = [sys.executable, "-m", f"benchmarks.{name}"]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)  # noqa: S603 - ours
        for row in found:
            met = "yes" if row["met"] else "**no**"
            cells = (row["what"], row["ours"], row["reference"], f"{row['score']:.2f}", row["goal"], met)
            print(f"| {' | '.join(cells)} |", flush=True)
        rows += found
    _JSON.parent.mkdir(exist_ok=True)
    _JSON.write_text(json.dumps(rows, indent=1))
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
