"""What every emitter's test needs: the local system, an account of what arrives in it, and the emitter installed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.emitters import environments, jvm
from tests.emitters.ledger import Ledger
from tests.integration.running import Running, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.emitters.environments import Environment


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run the system; a batch from the stream does not wait for more records."""
    running = start(tmp_path_factory.mktemp("system") / "terminal", "StreamBatchWindow=0")
    yield running
    assert running.stop() == 0


@pytest.fixture
def ledger(system: Running) -> Ledger:
    """Begin an account of what arrives."""
    return Ledger(system)


@pytest.fixture(scope="session")
def say(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Give a function that says something on the terminal while a test runs."""
    plugins = request.config.pluginmanager
    terminal: Any = plugins.get_plugin("terminalreporter")
    capture: Any = plugins.get_plugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            terminal.write_line(line)

    return say


@pytest.fixture(scope="session")
def install(say: Callable[[str], None]) -> Callable[[str], Environment]:
    """Give a function that installs an emitter by name, once."""
    return partial(environments.python, say=say)


@pytest.fixture(scope="session")
def jars(say: Callable[[str], None]) -> Callable[[str], Path]:
    """Give a function that fetches the jars of an emitter by name, once."""
    return partial(jvm.jars, say=say)
