"""Installing from a registry, where "it did not answer" and "what we asked for is wrong" are two different things."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TRIES = 3
PAUSE_SECONDS = 5.0
INSTALL_SECONDS = 900.0

# What uv, pip, mvn and npm say when nobody answered, or only a server in trouble did.
NO_ANSWER = re.compile(
    r"error sending request|client error \(Connect\)|Connection refused|Connection reset|dns error|timed out|"
    r"Temporary failure in name resolution|Name or service not known|Network is unreachable|No route to host|"
    r"HTTP status server error|HTTP status client error \((?:408|429)|"
    r"Could not transfer artifact|Unknown host|status(?: code)?: (?:408|429|5\d\d)|ENOTFOUND|ECONNREFUSED|ETIMEDOUT"
)


class RegistryError(Exception):
    """A registry did not answer, so nothing was tested. No fault of an emitter's or the adapter's."""


class InstallError(Exception):
    """A registry answered, and what was asked for cannot be installed: the pins are wrong."""


def install(command: Sequence[str], variables: Mapping[str, str] | None = None, pause: float = PAUSE_SECONDS) -> None:
    """Run `command`, which installs something; try again where a registry did not answer.

    Raises RegistryError when it never did, and InstallError when it did and the command failed all the same.
    """
    for left in reversed(range(TRIES)):
        failed = _failure(command, {**os.environ, **(variables or {})})
        if failed is None:
            return
        if not NO_ANSWER.search(failed):
            raise InstallError(f"{' '.join(command)}\n{failed}")
        if left:
            time.sleep(pause)
    raise RegistryError(f"registry did not answer: {_essence(failed or '')}; nothing was tested")


def _failure(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Run `command`; give what it said if it failed."""
    try:
        done = subprocess.run(  # noqa: S603 - commands of this package, with pinned names
            command, env=environment, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} timed out after {INSTALL_SECONDS:.0f} seconds"
    return None if done.returncode == 0 else done.stdout + done.stderr


def _essence(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if NO_ANSWER.search(line)]
    return lines[-1][:300]
