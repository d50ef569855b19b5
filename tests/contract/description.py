"""schemas/openapi.yaml, and what it becomes for a deployment that asks nobody for a token."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, cast

import yaml

SCHEMAS = Path(__file__).parents[2] / "schemas"
RUN_EVENT = SCHEMAS / "openlineage-2-0-2.json"


def described() -> dict[str, Any]:
    """Read the description as it stands: whoever posts is asked for a token."""
    return cast("dict[str, Any]", yaml.safe_load((SCHEMAS / "openapi.yaml").read_text(encoding="utf-8")))


def write_open(folder: Path) -> Path:
    """Write the description of an open deployment, and what it refers to, into `folder`; give its path."""
    description = described()
    for operations in description["paths"].values():
        for operation in operations.values():
            del operation["security"]
    shutil.copy(RUN_EVENT, folder)
    path = folder / "openapi.yaml"
    path.write_text(yaml.safe_dump(description), encoding="utf-8")
    return path
