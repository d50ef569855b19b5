"""Makes a function's artefact ready: `python -m tools.prune DIRECTORY`, after everything was installed into it.

Drops what the functions never read, and compiles the rest: Lambda cannot write byte-code where it runs, so without it
every cold start would compile all of it anew.
"""

from __future__ import annotations

import compileall
import shutil
import sys
from pathlib import Path
from py_compile import PycInvalidationMode

from tools import descriptions

# Whole directories and files, relative to the artefact.
UNUSED = (
    "bin",  # commands of the libraries
    "boto3/data",  # boto3's resources; the adapter uses clients
    "boto3/examples",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui",  # web pages
    "**/__pycache__",  # byte-code of other interpreters, or checked against times that an upload does not keep
    "**/*.pyi",
    ".lock",  # the installer's
)
# What a scanner needs to tell which version of a library is deployed, and what importlib.metadata reads.
_KEPT_METADATA = "METADATA"


def prune(artefact: Path) -> None:
    """Drop from `artefact` what no function reads, most of botocore's descriptions of AWS first of all."""
    for pattern in UNUSED:
        for path in list(artefact.glob(pattern)):
            _remove(path)
    descriptions.cut(artefact / "botocore" / "data")
    for path in artefact.glob("*.dist-info/*"):
        if path.name != _KEPT_METADATA:
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def compile_all(artefact: Path) -> bool:
    """Compile every module for the interpreter that runs this; it is trusted without a look at its source's time."""
    return compileall.compile_dir(
        artefact,
        quiet=1,
        stripdir=str(artefact),
        prependdir="/var/task",  # where Lambda unpacks it, for tracebacks
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )


def main(artefact: Path) -> int:
    """Prune and compile; return an exit status."""
    prune(artefact)
    return 0 if compile_all(artefact) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
