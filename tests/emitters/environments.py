"""One isolated environment for each emitter, below .emitters/, built from pinned requirements with hashes.

`requirements/<name>.in` names what is wanted, exactly; `requirements/<name>.txt` is the whole of it as uv resolved it,
and its first lines are the command that wrote it. An environment is built anew when its .txt changes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters.registry import install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).parent / "requirements"
ENVIRONMENTS = ROOT / ".emitters"
UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
RUN_SECONDS = 600.0
NONE: Mapping[str, str] = {}
_PYTHON = re.compile(r"^# .* --python-version[ =](\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Environment:
    """Where an emitter is installed; `home` has its `bin`."""

    home: Path

    def run(self, *command: str, cwd: Path, status: int = 0, variables: Mapping[str, str] = NONE) -> str:
        """Run one of its commands in `cwd`, with nothing of this machine's environment but the path; give its output.

        Fails, showing the output, where it does not end with `status`.
        """
        done = subprocess.run(  # noqa: S603 - an emitter installed here
            [str(self.home / "bin" / command[0]), *command[1:]],
            cwd=cwd,
            env=self.variables(cwd) | dict(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.returncode == status, done.stdout[-8000:]
        return done.stdout

    def variables(self, cwd: Path) -> dict[str, str]:
        """Give the environment its commands run in."""
        return {"PATH": f"{self.home / 'bin'}:{os.environ['PATH']}", "HOME": str(cwd), "LANG": "C.UTF-8", "TZ": "UTC"}


def python(name: str, say: Callable[[str], None]) -> Environment:
    """Give the environment of requirements/<name>.txt, built if need be. Raises RegistryError and InstallError."""
    requirements = REQUIREMENTS / f"{name}.txt"
    home = ENVIRONMENTS / name
    once(home, requirements, say, partial(_build, home, requirements))
    return Environment(home)


def once(home: Path, pins: Path, say: Callable[[str], None], build: Callable[[], None]) -> None:
    """Have `build` fill `home`, unless it has done so from these `pins` before."""
    stamp = home / "built-from"
    digest = sha256(pins.read_bytes()).hexdigest()
    if not (stamp.exists() and stamp.read_text() == digest):
        say(f"installing {home.name} …")
        build()
        stamp.write_text(digest)


def _build(home: Path, requirements: Path) -> None:
    version = _PYTHON.search(requirements.read_text())
    assert version, f"{requirements.name} does not say by which --python-version it was compiled"
    install([UV, "venv", "--quiet", "--clear", "--python", version[1], str(home)], {"PATH": _path_with_pyenv()})
    interpreter = str(home / "bin" / "python")
    install([UV, "pip", "install", "--quiet", "--require-hashes", "--python", interpreter, "-r", str(requirements)])


def _path_with_pyenv() -> str:
    """Give the path, and behind it all of pyenv's: its shims answer only for the version that a directory asks for."""
    return ":".join([os.environ["PATH"], *map(str, Path.home().glob(".pyenv/versions/*/bin"))])
