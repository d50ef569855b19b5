"""Each function is built for, told and given time for what it does."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from adapter import settings
from adapter.bootstrap import BATCH_EVENT_SECONDS, BATCH_PATIENCE
from adapter.doors import kinesis
from adapter.doors.http import ANSWER_SECONDS
from tests.artefact import ROOT
from tests.unit.template.deployed import DEPLOYED, FUNCTIONS, SERVICE, mapping_of

POWERTOOLS = {"POWERTOOLS_LOG_LEVEL", "POWERTOOLS_METRICS_NAMESPACE", SERVICE}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_is_told_what_settings_read_and_powertools_need(name: str) -> None:
    variables = DEPLOYED[name]["Properties"]["Environment"]["Variables"]
    assert set(variables) == set(settings.VARIABLES) | POWERTOOLS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_a_handler_module_of_its_own_and_is_built_by_the_makefile(name: str) -> None:
    module, _, function = DEPLOYED[name]["Properties"]["Handler"].rpartition(".")
    assert function == "handler"
    assert find_spec(module) is not None
    assert DEPLOYED[name]["Metadata"]["BuildMethod"] == "makefile"


def test_the_build_is_for_the_machine_that_is_asked_for() -> None:
    """arm64 and Python 3.13: the functions, the Makefile's wheels and byte-code, and the project itself."""
    makefile = (ROOT / "Makefile").read_text()
    for name in FUNCTIONS:
        assert DEPLOYED[name]["Properties"]["Architectures"] == ["arm64"]
        assert DEPLOYED[name]["Properties"]["Runtime"] == "python3.13"
    assert "--python-platform aarch64-" in makefile
    assert "--python-version 3.13 " in makefile
    assert (ROOT / ".python-version").read_text().strip() == "3.13"


def test_the_doors_own_clock_and_not_lambdas_ends_an_answer() -> None:
    """The whole answer is promised in 4 seconds; Lambda's timeout leaves the door its time and some more."""
    assert ANSWER_SECONDS < 4 < DEPLOYED["HttpFunction"]["Properties"]["Timeout"]


def test_the_backlogs_function_has_time_for_a_batch_one_by_one() -> None:
    """Each message may take all the patience there is for DataZone, then for the bucket, then to be postponed."""
    batch = mapping_of("BacklogFunction")["BatchSize"]
    longest = batch * (BATCH_EVENT_SECONDS + 2 * BATCH_PATIENCE.attempt) + kinesis.ANSWER_SECONDS
    assert longest <= DEPLOYED["BacklogFunction"]["Properties"]["Timeout"]
