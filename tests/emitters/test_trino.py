"""Trino with its own OpenLineage listener, as docs/emitters/trino.md says: queries that end well and one that fails."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tarfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from tests.emitters import jvm, page
from tests.emitters.environments import ENVIRONMENTS, once
from tests.emitters.recorder import passing, recording
from tests.integration.running import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emitters.ledger import Ledger
    from tests.integration.running import Running

START_SECONDS = 180.0
JAVAS = Path("/usr/lib/jvm")
PLUGINS = {"openlineage", "memory", "tpch"}
QUERIES = {
    "CREATE TABLE memory.default.nations AS SELECT n.name, r.name AS region "
    "FROM tpch.tiny.nation n JOIN tpch.tiny.region r ON n.regionkey = r.regionkey": "FINISHED",
    "INSERT INTO memory.default.nations SELECT name, name FROM tpch.tiny.region": "FINISHED",
    "INSERT INTO memory.default.nations SELECT name, CAST(1 / (regionkey - regionkey) AS varchar) "
    "FROM tpch.tiny.region": "DIVISION_BY_ZERO",
    "SELECT 1": "FINISHED",
}
# Of no interest to the listener; when it ends well, there are a node to run queries and catalogs to query.
READY = "SELECT count(*) FROM tpch.tiny.region"
ETC = {
    "node.properties": "node.environment=test\n",
    "jvm.config": "-Xmx1G\n",
    "log.properties": "io.openlineage.client.OpenLineageClient=DEBUG\n",
    "catalog/memory.properties": "connector.name=memory\n",
    "catalog/tpch.properties": "connector.name=tpch\n",
}


@pytest.fixture(scope="module")
def trino(jars: Callable[[str], Path], say: Callable[[str], None]) -> Path:
    """Give the directory of the server."""
    home = ENVIRONMENTS / "trino"
    archive = next(jars("trino").glob("*.tar.gz"))
    once(home, jvm.HERE / "trino" / "pom.xml", say, partial(unpack, archive, home))
    return next(home.glob("trino-server-*"))


def unpack(archive: Path, home: Path) -> None:
    """Unpack the server and three of its plugins; a jar that several plugins have is a link to another plugin's."""
    shutil.rmtree(home, ignore_errors=True)
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
        wanted = {member.name: member for member in members if needed(member.name)}
        linked = {member.linkname for member in wanted.values() if member.islnk()}
        tar.extractall(home, [one for one in members if one.name in wanted.keys() | linked], filter="data")
    for plugin in home.glob("*/plugin/*"):
        if plugin.name not in PLUGINS:
            shutil.rmtree(plugin)


def needed(name: str) -> bool:
    """Say whether a file of the archive is needed."""
    _, part, *rest = [*name.split("/"), ""]
    return part in {"bin", "lib"} or (part == "plugin" and rest[0] in PLUGINS)


def java() -> Path:
    """Give a Java that this Trino runs on."""
    found = [
        home for home in JAVAS.glob("*") if home.is_dir() and any(f"-{version}" in home.name for version in (24, 25))
    ]
    assert found, f"Trino needs Java 24 or 25 below {JAVAS}; nothing was tested"
    return found[0]


@pytest.fixture
def serve(trino: Path, tmp_path: Path) -> Iterator[Callable[[str], tuple[str, Path]]]:
    """Give a function that starts the server with a listener's configuration, and gives its URL and its log."""
    servers: list[subprocess.Popen[bytes]] = []

    def serving(listener: str) -> tuple[str, Path]:
        port, log = free(), tmp_path / "log"
        address = f"discovery.uri=http://127.0.0.1:{port}\nnode.internal-address=127.0.0.1\n"
        config = f"coordinator=true\nnode-scheduler.include-coordinator=true\nhttp-server.http.port={port}\n{address}"
        for name, text in {**ETC, "config.properties": config, "event-listener.properties": listener}.items():
            file = tmp_path / "etc" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        command: list[str | Path] = [
            trino / "bin" / "launcher",
            "run",
            "--etc-dir",
            tmp_path / "etc",
            "--data-dir",
            tmp_path / "data",
        ]
        environment = {**os.environ, "JAVA_HOME": str(java()), "PATH": f"{java() / 'bin'}:{os.environ['PATH']}"}
        with log.open("wb") as out:
            servers.append(
                subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)  # noqa: S603 - Trino's
            )
        url = f"http://127.0.0.1:{port}"
        until(lambda: started(url) or servers[-1].poll() is not None, START_SECONDS)
        assert servers[-1].poll() is None, log.read_text()[-4000:]
        return url, log

    yield serving
    for server in servers:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def test_queries_that_end_well_and_one_that_fails(
    serve: Callable[[str], tuple[str, Path]], system: Running, ledger: Ledger
) -> None:
    """With a token; counted by the client's own log."""
    with recording(passing(system.url)) as recorder:
        url, log = serve(page.block("trino", "event-listener.properties", url=recorder.url))
        assert {query: outcome(url, query) for query in QUERIES} == QUERIES
        until(lambda: len(recorder.asked) == len(jvm.logged(log.read_text())) >= 6)
    emitted = jvm.logged(log.read_text())
    ledger.closes(emitted)
    assert Counter(asked.event for asked in recorder.asked) == Counter(emitted)
    assert {asked.path for asked in recorder.asked} == {"/api/v1/lineage"}
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}
    events = [json.loads(raw) for raw in emitted]
    assert Counter(event["eventType"] for event in events) == {"START": 3, "COMPLETE": 2, "FAIL": 1}
    outputs = {one["name"] for event in events for one in event.get("outputs", [])}
    assert outputs == {"memory.default.nations"}


def outcome(url: str, query: str) -> str:
    """Run a query to its end and give its state or its error's name (Trino's client protocol: follow `nextUri`)."""
    answer = asked(Request(f"{url}/v1/statement", query.encode(), {"X-Trino-User": "jane"}))  # noqa: S310 - http, above
    while "nextUri" in answer:
        answer = asked(answer["nextUri"])
    return str(answer["error"]["errorName"] if "error" in answer else answer["stats"]["state"])


def asked(request: Request | str) -> Any:  # noqa: ANN401 - JSON
    """Give the JSON that is answered."""
    with urlopen(request, timeout=30) as response:  # noqa: S310 - the server started here
        return json.load(response)


def started(url: str) -> bool:
    """Say whether the server runs queries, which is a while after it says that it has started."""
    with suppress(OSError):  # before it listens
        if not asked(f"{url}/v1/info")["starting"] and outcome(url, READY) == "FINISHED":
            return True
    time.sleep(0.5)
    return False


def free() -> int:
    """Give a free port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
