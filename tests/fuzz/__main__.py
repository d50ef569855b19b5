"""Fuzz each way in for a while: `python -m tests.fuzz SECONDS`. Fails on the first finding and keeps it in .fuzz/."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from tests.fuzz.seeds import dictionary, seeds
from tests.fuzz.targets import TARGETS

WORK = Path(".fuzz")


def fuzz(target: str, seconds: str) -> None:
    """Run libFuzzer on `target`, beginning with its seeds and what earlier runs found worth keeping."""
    corpus = WORK / target / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in seeds(target):
        (corpus / sha256(seed).hexdigest()).write_bytes(seed)
    print(f"== {target}: {seconds} seconds", flush=True)
    subprocess.run(  # noqa: S603 - this interpreter, on this package
        [
            *(sys.executable, "-m", "tests.fuzz.run", target),
            *(f"-max_total_time={seconds}", "-seed=1", "-max_len=65536", "-timeout=60", "-print_final_stats=1"),
            *(f"-dict={WORK / 'words'}", f"-artifact_prefix={WORK / target}/", str(corpus)),
        ],
        check=True,
    )


def main() -> int:
    """Fuzz all targets in turn; 1 where one of them failed, after saying how to see it again."""
    WORK.mkdir(exist_ok=True)
    (WORK / "words").write_text(dictionary())
    for target in TARGETS:
        try:
            fuzz(target, sys.argv[1])
        except subprocess.CalledProcessError:
            print(f"to see it again: python -m tests.fuzz.run {target} {WORK / target}/crash-…", file=sys.stderr)
            return 1
    return 0


sys.exit(main())
