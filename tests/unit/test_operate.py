"""docs/operate.md says what the code and the template are."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path
from uuid import uuid4

import pytest

from adapter.model import Code, Received, Rejected, Source
from adapter.reconcile import Seen
from adapter.reconcile_telemetry import ReconcileTelemetry
from cli.main import group
from cli.verify import Result
from tools.translate import template

OPERATE = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()


def test_every_metric_of_reconciliation_is_listed_and_none_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"operate-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    telemetry = ReconcileTelemetry()
    telemetry.failed(Received(b"", Source.DATAZONE), None, Rejected(Code.FAILED_IN_DATAZONE, ""))
    for complete in (True, False):
        telemetry.passed(Seen(Counter(), Counter()), complete=complete)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    emitted = {line["_aws"]["CloudWatchMetrics"][0]["Metrics"][0]["Name"] for line in lines if "_aws" in line}
    assert all(line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"]] for line in lines if "_aws" in line)
    table = OPERATE.split("| metric (", 1)[1].split("\n\n", 1)[0]
    assert set(re.findall(r"`((?:DataZone|Reconcile)\w+)`", table)) == emitted


def test_every_result_of_verify_is_explained() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", OPERATE, re.MULTILINE)) >= set(Result)


@pytest.mark.parametrize("line", sorted(set(re.findall(r"^(?:\$ )?lineage-adapter (.+)$", OPERATE, re.MULTILINE))))
def test_every_command_shown_can_be_typed(line: str) -> None:
    """Each command there is has the options that it is shown with."""
    words = shlex.split(line)
    command = group.commands[words.pop(0)]
    if hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_outputs_and_parameters_named_exist() -> None:
    named = set(re.findall(r"`(\w+(?:BucketName|LogGroupName))`", OPERATE))
    assert named <= set(template()["Outputs"])
    assert "ArchiveEvents" in template()["Parameters"]
