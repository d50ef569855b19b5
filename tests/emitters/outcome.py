"""A pytest plugin: a registry that did not answer is an error at setup, with an exit status of its own.

75 (EX_TEMPFAIL in sysexits.h: try again later) when all that went wrong is that registries did not answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emitters.registry import RegistryError

if TYPE_CHECKING:
    from collections.abc import Generator

UNTESTED_STATUS = 75
UNTESTED: pytest.StashKey[dict[str, str]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """Begin with everything tested."""
    config.stash[UNTESTED] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say in one line which registry did not answer, in place of a traceback."""
    report = yield
    if call.excinfo and isinstance(call.excinfo.value, RegistryError):
        report.longrepr = str(call.excinfo.value)
        item.config.stash[UNTESTED][item.nodeid] = report.longrepr
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Set the exit status."""
    untested = len(session.config.stash[UNTESTED])
    if untested and session.testsfailed == untested:
        session.exitstatus = UNTESTED_STATUS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was not tested."""
    for test, why in terminalreporter.config.stash[UNTESTED].items():
        terminalreporter.write_line(f"NOT TESTED {test}: {why}")
