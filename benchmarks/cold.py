"""A cold start: processor time of a fresh interpreter from nothing to its first answer, as each is packaged.

Ours is the artefact that the build makes. The reference is packaged as SAM does by default: boto3 whole, no byte-code,
and Lambda's file system takes none.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tempfile
from compileall import compile_dir
from pathlib import Path
from statistics import median

from benchmarks import events, stand
from benchmarks.row import Row
from tests.artefact import assemble
from tools.prune import compile_all
from tools.sizes import sizes

_ROUNDS = 15
_REFERENCE = ("boto3", "botocore", "s3transfer", "jmespath", "dateutil", "urllib3", "six.py")
_GOAL = 0.5
_MEGABYTE = 1_000_000
_MOST_UNZIPPED, _MOST_ZIPPED = 30, 12

# The event comes as the body of the smallest envelope.
_START = """
import sys
sys.path.insert(0, sys.argv[1])
from {module} import {name} as handler
answer = handler({{"httpMethod": "POST", "path": "/", "headers": {{}}, "body": sys.stdin.read()}}, None)
assert answer["statusCode"] == 200, answer
"""
# Since the process began. A program's log goes to stdout.
_TOLD = "\nimport sys, time; print(time.process_time(), file=sys.stderr)"
OURS = _START.format(module="adapter.handlers.http", name="handler")
_THEIRS = _START.format(module="benchmarks.reference", name="http")


def measure() -> list[Row]:
    """Measure starts with and without byte-code, and weigh the artefact."""
    with stand.datazone() as datazone, tempfile.TemporaryDirectory() as scratch:
        ours, theirs = assemble(Path(scratch, "ours")), _packaged(Path(scratch, "theirs"))
        bare, compiled = Path(scratch, "bare"), Path(scratch, "compiled")
        shutil.copytree(ours, bare)
        shutil.copytree(theirs, compiled)
        compile_all(ours)
        compile_dir(compiled, quiet=2)
        starts = {
            "ours": (OURS, ours),
            "bare": (OURS, bare),
            "theirs": (_THEIRS, theirs),
            "compiled": (_THEIRS, compiled),
        }
        taken: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(_ROUNDS):
            for name, (program, where) in starts.items():
                taken[name].append(spent(program, where, datazone.environment))
        unzipped, zipped = (size / _MEGABYTE for size in sizes(ours))
        return [
            _row("Cold start, each as packaged", taken["ours"], taken["theirs"]),
            _row("Cold start, both without byte-code", taken["bare"], taken["theirs"]),
            # Nobody packages the reference so; it says how much of the difference is byte-code.
            _row("Cold start, both with byte-code", taken["ours"], taken["compiled"], 1.0),
            Row("Package, unzipped", f"{unzipped:.1f} MB", "", unzipped, _MOST_UNZIPPED),
            Row("Package, zipped", f"{zipped:.1f} MB", "", zipped, _MOST_ZIPPED),
        ]


def _row(what: str, ours: list[float], theirs: list[float], at_most: float = _GOAL) -> Row:
    one, other = median(ours), median(theirs)
    return Row(what, f"{one * 1000:.0f} ms", f"{other * 1000:.0f} ms", one / other, at_most)


def _packaged(target: Path) -> Path:
    installed = Path(sysconfig.get_path("purelib"))
    ignored = shutil.ignore_patterns("__pycache__")
    for name in _REFERENCE:
        if (installed / name).is_dir():
            shutil.copytree(installed / name, target / name, ignore=ignored)
        else:
            shutil.copy(installed / name, target / name)
    (target / "benchmarks").mkdir()
    shutil.copy(Path(__file__).with_name("reference.py"), target / "benchmarks")
    return target


def spent(program: str, where: Path, environment: dict[str, str]) -> float:
    """Give the processor seconds of a fresh interpreter to the end of `program`, which gets one event.

    Only `where` can be imported. How the interpreter ends is not in it: in Lambda it does not.
    """
    run = subprocess.run(  # noqa: S603 - this interpreter, on a program of ours
        [sys.executable, "-S", "-c", program + _TOLD, str(where)],
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=where,
        input=events.wide(events.SIZES["1 KB"]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    return float(run.stderr)


if __name__ == "__main__":
    stand.tell(measure())
