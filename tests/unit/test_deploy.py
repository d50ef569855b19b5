"""`make deploy` says at once what is missing, and otherwise hands over to sam."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.artefact import ROOT
from tools.deploy import NO_CREDENTIALS, NO_DOMAIN, names_domain

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


@pytest.fixture
def sam(tmp_path: Path) -> Path:
    """Stand in for sam, beside a samconfig.toml that names no domain: prints what it is asked."""
    (tmp_path / "samconfig.toml").write_text("[default.deploy.parameters]\nresolve_s3 = true\n")
    script = tmp_path / "sam"
    script.write_text('#!/bin/sh\necho "$@"\n')
    script.chmod(0o700)
    return script


def deploy(sam: Path, *options: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    nowhere = {"HOME": str(sam.parent), "AWS_EC2_METADATA_DISABLED": "true", "PYTHONPATH": str(ROOT)}
    return subprocess.run(  # noqa: S603 - this interpreter, on this repository's own module
        [sys.executable, "-m", "tools.deploy", str(sam), *options],
        cwd=sam.parent,
        env=nowhere | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_credentials_sam_is_not_even_asked(sam: Path) -> None:
    said = deploy(sam, "--parameter-overrides", "DomainId=dzd_1", environment={})
    assert (said.returncode, said.stdout, said.stderr) == (1, "", f"{NO_CREDENTIALS}\n")


def test_without_a_domain_and_a_terminal_there_is_nobody_to_ask(sam: Path) -> None:
    said = deploy(sam, environment=KEYS)
    assert (said.returncode, said.stdout, said.stderr) == (1, "", f"{NO_DOMAIN}\n")


def test_with_both_it_is_sam_that_deploys(sam: Path) -> None:
    said = deploy(sam, "--parameter-overrides", "DomainId=dzd_1", environment=KEYS)
    assert (said.returncode, said.stdout) == (0, "deploy --parameter-overrides DomainId=dzd_1\n")


@pytest.mark.parametrize(
    "overrides", ['"DomainId=\\"dzd_1\\" LogLevel=\\"INFO\\""', '["LogLevel=INFO", "DomainId=dzd_1"]']
)
def test_the_domain_may_be_named_in_samconfig(overrides: str) -> None:
    """As `sam deploy --guided` writes it, and as a list."""
    assert names_domain(f"[default.deploy.parameters]\nparameter_overrides = {overrides}\n", ())
