"""A function's artefact made from this environment's own copies of the locked libraries: the same files, no download.

Only jsonschema-rs' machine code differs from what is deployed: it is this machine's.
"""

from __future__ import annotations

import re
import shutil
from importlib import metadata
from pathlib import Path

from tools.prune import prune

ROOT = Path(__file__).parents[1]

# What a function cannot do without: what settings have no default for, and the region, which Lambda tells it.
ENVIRONMENT = {
    "DOMAIN_ID": "dzd_1",
    "DOMAIN_REGION": "us-east-1",
    "BACKLOG_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/backlog",
    "QUARANTINE_BUCKET": "quarantine",
    "PRODUCERS_SECRET": "arn:aws:secretsmanager:us-east-1:123456789012:secret:producers-AbCdEf",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def assemble(target: Path) -> Path:
    """Put into `target` what the build puts together for a function; return it."""
    for name in re.findall(r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE):
        _copy(metadata.distribution(name), target)
    for package in ("adapter", "schemas"):
        shutil.copytree(ROOT / package, target / package)
    prune(target)
    return target


def _copy(distribution: metadata.Distribution, target: Path) -> None:
    for file in distribution.files or ():
        if ".." not in file.parts:  # commands, outside of site-packages
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target / file)
