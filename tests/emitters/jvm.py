"""Emitters on the Java virtual machine: their jars from Maven Central, and what the Java client says of what it emits.

`<name>/pom.xml` names the jars by exact version. They are kept below .emitters/jars/ and fetched anew when it changes.
"""

from __future__ import annotations

import re
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.emitters.environments import ENVIRONMENTS, Environment, once
from tests.emitters.registry import install

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
COPY = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
# io.openlineage.client.OpenLineageClient, `emit`, at level DEBUG; Spark, Flink and Trino all emit through it.
_LOGGED = re.compile(r"OpenLineageClient will emit lineage event: (\{.*\})$", re.MULTILINE)


def jars(name: str, say: Callable[[str], None]) -> Path:
    """Give the directory of the jars of <name>/pom.xml. Raises RegistryError and InstallError."""
    pom, home = HERE / name / "pom.xml", ENVIRONMENTS / "jars" / name
    once(home, pom, say, partial(_fetch, pom, home))
    return home


def java() -> Environment:
    """Give the Java that is on PATH."""
    found = shutil.which("java")
    assert found, "these emitters need a Java 17 or newer on PATH"
    return Environment(Path(found).resolve().parents[1])


def logged(output: str) -> list[bytes]:
    """Give the events that the client's log at DEBUG says it emits, in order."""
    return [event.encode() for event in _LOGGED.findall(output)]


def _fetch(pom: Path, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    install(["mvn", "--batch-mode", "--quiet", "--file", str(pom), COPY, f"-DoutputDirectory={home}"])
