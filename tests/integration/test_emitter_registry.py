"""An emitter that could not be installed is told apart from one that failed (tests/emitters)."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.emitters.environments import ROOT, UV
from tests.emitters.outcome import UNTESTED_STATUS
from tests.emitters.recorder import Answer, recording
from tests.emitters.registry import TRIES, InstallError, RegistryError, install

if TYPE_CHECKING:
    from pathlib import Path

ONE_TRY = {"UV_HTTP_RETRIES": "0"}


def resolving(index: str) -> list[str]:
    """Give a command that asks the registry at `index` for a package and writes nothing."""
    return [UV, "pip", "install", "--dry-run", "--no-cache", "--no-config", "--default-index", index, "no-such-package"]


def closed_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_a_registry_that_nobody_answers_for_is_said_so() -> None:
    with pytest.raises(RegistryError, match=r"^registry did not answer: .*; nothing was tested$"):
        install(resolving(f"http://127.0.0.1:{closed_port()}/simple"), ONE_TRY, pause=0)


def test_a_registry_in_trouble_is_asked_again_and_then_said_so() -> None:
    with recording(lambda _: Answer(503)) as registry, pytest.raises(RegistryError):
        install(resolving(f"{registry.url}/simple"), ONE_TRY, pause=0)
    assert len(registry.asked) >= TRIES


def test_a_registry_that_answers_and_has_no_such_package_is_our_fault() -> None:
    with recording(lambda _: Answer(404)) as registry, pytest.raises(InstallError):
        install(resolving(f"{registry.url}/simple"), ONE_TRY, pause=0)


UNREACHED = """
import pytest
from tests.emitters.registry import RegistryError

@pytest.fixture(scope="module")
def emitter():
    raise RegistryError("registry did not answer: nobody there; nothing was tested")

def test_one(emitter): pass
def test_two(emitter): pass
"""
FAILED = "def test_three(): assert False\n"


def session(directory: Path, tests: str) -> subprocess.CompletedProcess[str]:
    """Run `tests` as `make test-emitters` runs its own."""
    file = directory / "test_it.py"
    file.write_text(tests)
    plugins = ["-p", "no:cacheprovider", "-p", "tests.emitters.outcome"]
    return subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", "pytest", str(file), f"--rootdir={directory}", *plugins],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_was_not_tested_is_an_error_with_a_status_of_its_own(tmp_path: Path) -> None:
    """It is never skipped and never passed, and each test that was not run is named."""
    done = session(tmp_path, UNREACHED)
    assert done.returncode == UNTESTED_STATUS
    assert "2 errors" in done.stdout
    assert "NOT TESTED test_it.py::test_two: registry did not answer: nobody there; nothing was tested" in done.stdout


def test_a_failure_beside_it_is_a_failure(tmp_path: Path) -> None:
    assert session(tmp_path, UNREACHED + FAILED).returncode == pytest.ExitCode.TESTS_FAILED
