"""A vulnerability, a clean audit and no audit at all never look alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tools.audit import audit

if TYPE_CHECKING:
    from pathlib import Path

CLEAN = {"name": "one", "version": "1.0", "vulns": []}
VULNERABLE = {"name": "two", "version": "2.0", "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "three", "skip_reason": "Dependency not found on PyPI and could not be audited: three (3.0)"}


def pip_audit(folder: Path, stdout: str, stderr: str = "", status: int = 0) -> str:
    """Stand in for pip-audit: what it says and how it ends."""
    (folder / "out").write_text(stdout)
    (folder / "err").write_text(stderr)
    script = folder / "pip-audit"
    script.write_text(f'#!/bin/sh\ncat "{folder}/out"\ncat "{folder}/err" >&2\nexit {status}\n')
    script.chmod(0o700)
    return str(script)


def reported(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


@pytest.mark.parametrize(
    ("packages", "status", "line"),
    [
        ([CLEAN], 0, "locked.txt: 1 packages, 0 known vulnerabilities, 0 not audited"),
        ([CLEAN, VULNERABLE], 1, "locked.txt: two 2.0: PYSEC-2026-1"),
        ([CLEAN, SKIPPED], 1, "locked.txt: three: not audited"),
        ([SKIPPED], 0, "NOT AUDITED: the vulnerability service does not answer here (it knows none of the packages)"),
        ([], 1, "locked.txt: 0 packages, 0 known vulnerabilities, 0 not audited"),
    ],
)
def test_what_pip_audit_reports_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], packages: list[dict[str, Any]], status: int, line: str
) -> None:
    """pip-audit itself ends with 0 for a package that was skipped."""
    assert audit(pip_audit(tmp_path, reported(*packages)), "locked.txt") == status
    assert capsys.readouterr().out.startswith(line)


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        ("requests.exceptions.ProxyError: HTTPSConnectionPool(host='pypi.org')", 0, "NOT AUDITED: "),
        ("requests.exceptions.ConnectionError: no route", 0, "NOT AUDITED: "),
        ("requests.exceptions.SSLError: certificate verify failed", 1, "locked.txt: pip-audit failed: "),
        ("ERROR: requirement one is not hashed", 1, "locked.txt: pip-audit failed: "),
        ("", 1, "locked.txt: pip-audit failed: "),
    ],
)
def test_without_a_report_only_a_service_that_cannot_be_reached_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], error: str, status: int, line: str
) -> None:
    said = f"Traceback (most recent call last):\n{error}\n"
    assert audit(pip_audit(tmp_path, "", said, 1), "locked.txt") == status
    assert capsys.readouterr().out.startswith(line)
