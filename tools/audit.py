"""Asks for known vulnerabilities of what is locked: `python -m tools.audit PIP_AUDIT REQUIREMENTS…`.

pip-audit (2.10) calls packages that its service does not know "skipped", and ends with "No known vulnerabilities found"
even if that is all of them, as behind an index that has no such service. Here three things end differently: audited and
clean (0); a vulnerability, or a package not audited among others that were (1); and no service to ask: 0 as well,
so that a machine without one can pass, but with a line that nobody takes for a clean audit.
"""

# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

NOT_AUDITED = "NOT AUDITED: the vulnerability service does not answer here ({}). Nothing is known of {}."

# How requests, by which pip-audit asks, names what keeps it from an answer. A bad certificate is not among them.
_UNREACHABLE = ("ConnectionError", "ConnectTimeout", "ReadTimeout", "ProxyError")


def audit(pip_audit: str, requirements: str) -> int:
    """Print what is known of the packages in the file `requirements`, hashes and all; return an exit status."""
    asked = subprocess.run(  # noqa: S603 - the Makefile names the program
        [pip_audit, "--requirement", requirements, "--require-hashes", "--disable-pip", "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages = json.loads(asked.stdout)["dependencies"]
    except ValueError:
        return _without_answer(requirements, asked.stderr)
    return _judged(requirements, packages)


def _without_answer(requirements: str, said: str) -> int:
    last = said.strip().rpartition("\n")[2]
    if last.partition(":")[0].rpartition(".")[2] in _UNREACHABLE:
        print(NOT_AUDITED.format(last.partition(":")[0], requirements))
        return 0
    print(f"{requirements}: pip-audit failed: {said}")
    return 1


def _judged(requirements: str, packages: Sequence[dict[str, Any]]) -> int:
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    if packages and len(skipped) == len(packages):
        print(NOT_AUDITED.format("it knows none of the packages", requirements))
        return 0
    found = [f"{one['name']} {one['version']}: {bug['id']}" for one in packages for bug in one.get("vulns", ())]
    for line in [*found, *(f"{name}: not audited" for name in skipped)]:
        print(f"{requirements}: {line}")
    print(f"{requirements}: {len(packages)} packages, {len(found)} known vulnerabilities, {len(skipped)} not audited")
    return 1 if found or skipped or not packages else 0


if __name__ == "__main__":
    sys.exit(max([audit(sys.argv[1], requirements) for requirements in sys.argv[2:]]))
