"""The plain Java client at its smallest version: over Kinesis with the real producer library, and over HTTP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from tests.emitters import jvm, page
from tests.emitters.test_java import DEBUG, PROGRAM
from tests.emitters.test_kinesis import CREDENTIALS, encrypted, settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

COUNT = 20
# Milliseconds, for a record to fill and be sent.
LINGER = "6000"
UTF8 = "-Dfile.encoding=UTF-8"


def test_the_page(jars: Callable[[str], Path], tmp_path: Path, system: Running, ledger: Ledger) -> None:
    """Each `emit` returns before anything is sent, and what it was given arrives as it left."""
    home = jars("java_kinesis")
    with encrypted(system.aws_url) as port:
        shown = yaml.safe_load(page.block("java", "kinesis.yml"))
        shown["transport"]["properties"] = {key: str(value) for key, value in settings(port).items()}
        (tmp_path / "openlineage.yml").write_text(yaml.safe_dump(shown))
        output = jvm.java().run(
            "java",
            DEBUG,
            UTF8,
            "-cp",
            f"{home}/*",
            str(PROGRAM),
            str(COUNT),
            LINGER,
            cwd=tmp_path,
            variables=CREDENTIALS,
        )
    assert re.findall(r"^emit: (\w+)", output, re.MULTILINE) == ["returned"] * COUNT
    emitted = jvm.logged(output)
    assert len(emitted) == COUNT
    ledger.closes(emitted)


def test_the_smallest_version_over_http(
    jars: Callable[[str], Path], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """1.22.0 is the oldest that DataZone says it takes."""
    configuration = {"transport": {"type": "http", "url": system.url}}
    (tmp_path / "openlineage.yml").write_text(yaml.safe_dump(configuration))
    output = jvm.java().run(
        "java", DEBUG, UTF8, "-cp", f"{jars('java_kinesis')}/*", str(PROGRAM), str(COUNT), cwd=tmp_path
    )
    assert re.findall(r"^emit: (\w+)", output, re.MULTILINE) == ["returned"] * COUNT
    ledger.closes(jvm.logged(output))
