"""The local system, started once for all tests of a process that need it.

A test that puts faults starts one of its own: what a fault did to a function (an open breaker) outlasts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.running import Running, start

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run the system; a batch from the stream does not wait for more records."""
    running = start(tmp_path_factory.mktemp("system") / "terminal", "StreamBatchWindow=0")
    yield running
    assert running.stop() == 0
