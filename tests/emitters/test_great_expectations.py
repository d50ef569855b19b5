"""Great Expectations with the OpenLineage action, in a checkpoint where that works and beside one where it does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.emitters import page
from tests.emitters.client import tee
from tests.emitters.ledger import Ledger, lines
from tests.integration.running import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.emitters.environments import Environment
    from tests.integration.running import Running

PAGE = "great_expectations"


@pytest.fixture(scope="module")
def old(install: Callable[[str], Environment]) -> Environment:
    return install("great_expectations_old")


@pytest.fixture(scope="module")
def new(install: Callable[[str], Environment]) -> Environment:
    return install("great_expectations")


@pytest.fixture(scope="module")
def lenient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system that lets broken formats through and counts them."""
    running = start(tmp_path_factory.mktemp("lenient") / "terminal", "FormatAssertion=warn")
    yield running
    assert running.stop() == 0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Give a copy of the programs."""
    return Path(shutil.copytree(Path(__file__).parent / "great_expectations", tmp_path / "project"))


def configured(project: Path, system: Running) -> Path:
    """Write openlineage.yml as the page has it, and give the file in which the client counts."""
    emitted = project / "emitted"
    shown = page.block(PAGE, "openlineage.yml", url=system.url)
    (project / "openlineage.yml").write_text(tee(shown, emitted))
    return emitted


def check(event: bytes) -> None:
    """Assert that `event` has the expectations where OpenLineage has them, one of them not met."""
    (checked,) = json.loads(event)["inputs"]
    results = checked["inputFacets"]["greatExpectations_assertions"]["assertions"]
    assert [one["success"] for one in results] == [True, True, False]


def test_a_time_without_offset_is_refused_and_kept(
    old: Environment, project: Path, system: Running, ledger: Ledger
) -> None:
    """The one release that works in a checkpoint writes local time: a finding, with its reason."""
    emitted = configured(project, system)
    old.run("python", "checkpoint_old.py", page.block(PAGE, "action"), cwd=project)
    (event,) = lines(emitted)
    check(event)
    ledger.closes([event], findings={event: "schema_violation"})
    assert [(error["path"], error["rule"]) for error in ledger.reasons()[event]["errors"]] == [("/eventTime", "format")]


def test_a_time_without_offset_passes_where_formats_only_warn(
    old: Environment, project: Path, lenient: Running
) -> None:
    ledger, emitted = Ledger(lenient), configured(project, lenient)
    old.run("python", "checkpoint_old.py", page.block(PAGE, "action"), cwd=project)
    (event,) = lines(emitted)
    ledger.closes([event])
    warnings = lenient.post(event).body["warnings"]
    assert ("/eventTime", "format") in {(warning["path"], warning["rule"]) for warning in warnings}


def test_the_newest_action_works_beside_a_checkpoint(
    new: Environment, project: Path, system: Running, ledger: Ledger
) -> None:
    emitted = configured(project, system)
    new.run("python", "validation.py", "by_hand", page.block(PAGE, "by hand"), cwd=project)
    (event,) = lines(emitted)
    check(event)
    ledger.closes([event])


def test_the_newest_action_fails_in_a_checkpoint(
    new: Environment, project: Path, system: Running, ledger: Ledger
) -> None:
    """Before it sends anything; a release that mends it will be noticed here, and the page changes."""
    configured(project, system)
    output = new.run("python", "validation.py", "checkpoint", cwd=project, status=1)
    assert "Object of type 'OpenLineageClient' is not JSON serializable" in output
    ledger.closes([])
