"""Where a cold start's milliseconds go: `python -m benchmarks.start [ARTEFACT]`, without one of this working copy.

Fresh interpreters, in turn, each going one step further than the one before; a part is what its step adds.
"""

# ruff: noqa: T201 - talks to the person who measures

from __future__ import annotations

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks import stand
from benchmarks.cold import OURS, spent
from tests.artefact import assemble
from tools.prune import compile_all

_ROUNDS = 15
# The handlers' package first, as in Lambda: it says how a start treats garbage.
_IMPORTED = "import sys; sys.path.insert(0, sys.argv[1]); import adapter.handlers; "
_STEPS = {
    "the interpreter": "",
    "boto3's import": _IMPORTED + "import boto3",
    "the adapter's, Powertools' and jsonschema-rs'": _IMPORTED + "import boto3, adapter.bootstrap",
    "the door and its clients": _IMPORTED + "import adapter.handlers.http",
    "the first answer": OURS,
}


def main(artefact: Path) -> None:
    """Print each part in milliseconds of processor time, then all of them together."""
    with stand.datazone() as datazone:
        rounds = [
            [spent(program, artefact, datazone.environment) for program in _STEPS.values()] for _ in range(_ROUNDS)
        ]
    # The least of all rounds: what else runs on the machine only adds to it.
    reached = [0.0, *(min(times) * 1000 for times in zip(*rounds, strict=True))]
    for what, (before, after) in zip(_STEPS, pairwise(reached), strict=True):
        print(f"{after - before:5.0f} ms  {what}")
    print(f"{reached[-1]:5.0f} ms  in all")


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            compile_all(made := assemble(Path(scratch, "ours")))
            main(made)
