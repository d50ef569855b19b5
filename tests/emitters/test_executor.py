"""A small executor driven by a descriptor, through both HTTP transports of openlineage-python."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.emitters import page
from tests.emitters.client import tee
from tests.emitters.ledger import Ledger, lines
from tests.emitters.recorder import passing, recording
from tests.integration.running import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emitters.environments import Environment
    from tests.integration.running import Running


@pytest.fixture(scope="module")
def client(install: Callable[[str], Environment]) -> Environment:
    return install("executor")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(Path(__file__).parent / "executor", tmp_path / "project"))


@pytest.mark.parametrize("left_out", [(), ("compression",), ("auth",)], ids=["as shown", "plain", "without a key"])
@pytest.mark.parametrize("transport", ["http", "async_http"])
def test_every_event_arrives_as_it_left(  # noqa: PLR0913, PLR0917 - a fixture or parameter each
    client: Environment, project: Path, system: Running, ledger: Ledger, transport: str, left_out: tuple[str, ...]
) -> None:
    """As the page configures it, and without each of the two settings that may be left out."""
    with recording(passing(system.url)) as recorder:
        shown = yaml.safe_load(page.block("python", transport, url=recorder.url))
        shown["transport"] = {key: value for key, value in shown["transport"].items() if key not in left_out}
        (project / "openlineage.yml").write_text(tee(yaml.safe_dump(shown), project / "emitted"))
        client.run("python", "executor.py", "pipelines.yml", cwd=project)
    emitted = lines(project / "emitted")
    assert sorted(asked.event for asked in recorder.asked) == sorted(emitted)
    assert recorder.statuses == [200, 200, 200]
    assert {"content-encoding" in asked.headers for asked in recorder.asked} == {"compression" not in left_out}
    assert {"authorization" in asked.headers for asked in recorder.asked} == {"auth" not in left_out}
    ledger.closes(emitted)
    holds_what_an_executor_says([json.loads(raw) for raw in emitted])


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system that asks for a token, as a deployment does."""
    running = start(tmp_path_factory.mktemp("guarded") / "terminal", AUTH="on")
    yield running
    assert running.stop() == 0


@pytest.mark.parametrize("transport", ["http", "async_http"])
def test_the_key_is_the_producers_token(client: Environment, project: Path, guarded: Running, transport: str) -> None:
    ledger, token = Ledger(guarded), re.findall(r"a token +(\S+)", guarded.output())[0]
    shown = page.block("python", transport, url=guarded.url, token=token)
    (project / "openlineage.yml").write_text(tee(shown, project / "emitted"))
    client.run("python", "executor.py", "pipelines.yml", cwd=project)
    ledger.closes(lines(project / "emitted"))


def test_another_key_is_told_so_and_nothing_is_taken(client: Environment, project: Path, guarded: Running) -> None:
    """The program sees it with its first event."""
    ledger = Ledger(guarded)
    (project / "openlineage.yml").write_text(page.block("python", "http", url=guarded.url))
    output = client.run("python", "executor.py", "pipelines.yml", cwd=project, status=1)
    assert re.search(r"HTTPError: 40[13] Client Error", output)
    ledger.closes([])


def holds_what_an_executor_says(events: list[dict[str, Any]]) -> None:
    """Assert that each step has one event with its own facets, in their places."""
    done, checked, failed = events
    assert [event["eventType"] for event in events] == ["COMPLETE", "OTHER", "FAIL"]
    assert all("processing" in event["job"]["facets"] for event in events)
    assert all("retail_provenance" in event["run"]["facets"] for event in events)
    assert {"schema", "columnLineage"} <= done["outputs"][0]["facets"].keys()
    results = checked["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert [result["success"] for result in results] == [True, False]
    assert failed["run"]["facets"]["errorMessage"]["message"].startswith("refused to start")
