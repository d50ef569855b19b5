"""A cold start: processor time of a fresh interpreter from nothing to its first answer, as each is packaged.

Ours is the artefact that the build makes. The reference is packaged as SAM does by default: boto3 whole, no byte-code,
and Lambda's file system takes none.
"""

from __future__ import annotations

import resource
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

_ROUNDS = 7
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
_OURS = _START.format(module="adapter.handlers.http", name="handler")
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
            "ours": (_OURS, ours),
            "bare": (_OURS, bare),
            "theirs": (_THEIRS, theirs),
            "compiled": (_THEIRS, compiled),
        }
        taken: dict[str, list[float]] = {name: [] for name in starts}
        for _ in range(_ROUNDS):
            for name, (program, where) in starts.items():
                taken[name].append(_start(program, where, datazone.environment))
        unzipped, zipped = (size / _MEGABYTE for size in sizes(ours))
        return [
            _row("Cold start, each as packaged", taken["ours"], taken["theirs"]),
            _row("Cold start, both without byte-code", taken["bare"], taken["theirs"]),
            _row("Cold start, both with byte-code", taken["ours"], taken["compiled"]),
            Row("Package, unzipped", f"{unzipped:.1f} MB", "", unzipped, _MOST_UNZIPPED),
            Row("Package, zipped", f"{zipped:.1f} MB", "", zipped, _MOST_ZIPPED),
        ]


def _row(what: str, ours: list[float], theirs: list[float]) -> Row:
    one, other = median(ours), median(theirs)
    return Row(what, f"{one * 1000:.0f} ms", f"{other * 1000:.0f} ms", one / other, _GOAL)


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


def _start(program: str, where: Path, environment: dict[str, str]) -> float:
    before = _children()
    subprocess.run(  # noqa: S603 - this interpreter, on the program above
        [sys.executable, "-S", "-c", program, str(where)],
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        cwd=where,
        input=events.wide(events.SIZES["1 KB"]),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    stand.tell(measure())
