"""What the Python client itself can say of what it emits; dbt, Airflow, Great Expectations and others all use it."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from pathlib import Path

# openlineage/client/client.py, `emit`, at level DEBUG.
LOG_EVENTS = {"OPENLINEAGE_CLIENT_LOGGING": "DEBUG"}
_LOGGED = re.compile(r"OpenLineageClient will \*try\* to emit event (b(?:'.*'|\".*\"))$", re.MULTILINE)


def tee(configuration: str, file: Path) -> str:
    """Put a file transport beside the transport of an openlineage.yml, which itself is left as it is."""
    shown = yaml.safe_load(configuration)
    count = {"type": "file", "log_file_path": str(file), "append": True}
    both = {"type": "composite", "transports": [shown["transport"], count], "continue_on_failure": True}
    return yaml.safe_dump(shown | {"transport": both})


def logged(output: str) -> list[bytes]:
    """Give the events that a client with OPENLINEAGE_CLIENT_LOGGING=DEBUG says it emits, in order."""
    return [ast.literal_eval(found) for found in _LOGGED.findall(output)]
