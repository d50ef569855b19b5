"""Spark with the listener's Kinesis transport and the real producer library, as docs/emitters/kinesis.md says."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapter import kpl
from tests.emitters import jvm, page
from tests.emitters.test_spark import HERE, VARIABLES
from tests.integration.running import ROOT, STREAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.emitters.environments import Environment
    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_EC2_METADATA_DISABLED": "true"}
PACKAGE = re.compile(r"[\w.-]+:([\w.-]+):([\w.-]+)")


def test_the_page(
    install: Callable[[str], Environment], jars: Callable[[str], Path], tmp_path: Path, system: Running, ledger: Ledger
) -> None:
    """The job that fails in the end. Counted by the client's own log; some records are aggregates of several events."""
    home = jars("kinesis")
    shutil.copy(HERE / "job.py", tmp_path)
    command = shlex.split(page.block("kinesis", "command"))
    packages = command.pop(command.index("--packages") + 1)
    # What --packages fetches when the job starts, Maven has fetched before.
    assert all((home / f"{name}-{version}.jar").exists() for name, version in PACKAGE.findall(packages))
    command[command.index("--packages")] = "--jars"
    command.insert(command.index("--jars") + 1, ",".join(map(str, home.glob("*.jar"))))
    with encrypted(system.aws_url) as port:
        shown = page.block("kinesis", "lineage.properties")
        here = [f"spark.openlineage.transport.properties.{name}={value}\n" for name, value in settings(port).items()]
        (tmp_path / "lineage.properties").write_text(shown + "".join(here))
        output = install("kinesis").run(
            *command,
            "fail",
            cwd=tmp_path,
            status=1,
            variables=VARIABLES | CREDENTIALS | {"PYSPARK_PYTHON": "python", "LINGER_SECONDS": "5"},
        )
    emitted = jvm.logged(output)
    ledger.closes(emitted)
    # A write that fails is not told as FAIL by this old listener.
    assert {json.loads(raw)["eventType"] for raw in emitted} == {"START", "RUNNING", "COMPLETE"}
    assert {kpl.is_aggregate(data) for data in records(system)} == {True, False}


def settings(port: int) -> dict[str, str | int]:
    """Have the producer library find AWS on this machine, and wait a second for a record to fill."""
    return {
        "KinesisEndpoint": "127.0.0.1",
        "KinesisPort": port,
        "StsEndpoint": "127.0.0.1",
        "StsPort": port,
        "VerifyCertificate": "false",
        "MetricsLevel": "none",
        "RecordMaxBufferedTime": 1000,
    }


def records(system: Running) -> list[bytes]:
    """Give the data of every record in the stream."""
    found: list[bytes] = []
    for shard in system.kinesis.list_shards(StreamName=STREAM)["Shards"]:
        start = system.kinesis.get_shard_iterator(
            StreamName=STREAM, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )
        got = system.kinesis.get_records(ShardIterator=start["ShardIterator"])
        found += [record["Data"] for record in got["Records"]]
    return found


@contextmanager
def encrypted(url: str) -> Iterator[int]:
    """Put TLS in front of `url`; gives the port."""
    command = [sys.executable, "-m", "tests.emitters.tls", str(urlsplit(url).port)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as server:  # noqa: S603 - this interpreter
        assert server.stdout
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()
