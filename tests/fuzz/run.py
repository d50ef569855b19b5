"""Fuzz one way in: `python -m tests.fuzz.run TARGET [libFuzzer's arguments]`. A file among them is tried alone."""

from __future__ import annotations

import sys

import atheris

# Only what is imported in here reports its branches to the fuzzer.
with atheris.instrument_imports(include=["adapter"]):  # type: ignore[attr-defined]  # types-atheris leaves it out
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()
