"""`lineage-adapter lint`, as it is typed."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from cli.lint import lint
from tests.fakes import run_event
from tests.sample import EVENTS, index

if TYPE_CHECKING:
    from pathlib import Path

GOOD = run_event()
NAIVE = run_event(eventTime="2026-11-29T10:00:00")


def _run(*arguments: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(lint, arguments, input=stdin)


def _objects(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_it_says_of_every_sample_what_the_adapter_says() -> None:
    result = _run("--json", str(EVENTS))
    assert result.exit_code == 1
    found = {one["name"].removeprefix(f"{EVENTS}/"): one for one in _objects(result)}
    assert found.keys() == index().keys()
    for name, expected in index().items():
        assert found[name].get("code") == expected.code
        assert found[name]["outcome"] == ("rejected" if expected.code else "accepted")
        if expected.path is not None:
            assert [(one["path"], one["rule"]) for one in found[name]["errors"]] == [(expected.path, expected.rule)]


def test_a_person_gets_each_verdict_with_its_reasons_and_a_count() -> None:
    facet = {"_producer": "https://example.com", "_schemaURL": "https://example.com/1-0-0.json"}
    doubtful = run_event(outputs=[{"namespace": "a", "name": "b", "outputFacets": {"dataQualityAssertions": facet}}])
    result = _run("-", stdin=b"\n".join([GOOD, NAIVE, b"{", doubtful]))
    token = "[0-9a-f]{64}"
    expected = [
        rf"stdin:1: accepted, client token {token}",
        r"stdin:2: rejected, schema_violation: violates OpenLineage 2-0-2 in 1 place",
        r"  error: /eventTime must be a date and time with an offset, like .*\(format\)",
        r"stdin:3: rejected, not_json: not JSON at line 1, column 2",
        rf"stdin:4: accepted, client token {token}",
        r"  warning: /outputs/0/outputFacets/dataQualityAssertions is read in .*\(misplaced_facet\)",
        r"accepted 2, rejected 2, warnings 1",
    ]
    assert re.fullmatch("\n".join(expected) + "\n", result.stdout)
    assert result.exit_code == 1


def test_the_token_is_the_formulas() -> None:
    (one,) = _objects(_run("--json", "-", stdin=GOOD))
    token = sha256(json.dumps(json.loads(GOOD), sort_keys=True).encode()).hexdigest()
    assert one == {"name": "stdin:1", "outcome": "accepted", "clientToken": token, "warnings": []}


def test_a_machine_gets_the_errors_of_the_adapters_answer() -> None:
    (one,) = _objects(_run("--json", "-", stdin=NAIVE))
    assert (one["code"], one["detail"]) == ("schema_violation", "violates OpenLineage 2-0-2 in 1 place")
    assert [(error["path"], error["rule"]) for error in one["errors"]] == [("/eventTime", "format")]


def test_a_lenient_adapter_warns_of_a_broken_format() -> None:
    result = _run("--json", "--formats", "warn", "-", stdin=NAIVE)
    (one,) = _objects(result)
    assert (result.exit_code, one["outcome"]) == (0, "accepted")
    assert [(warning["path"], warning["rule"]) for warning in one["warnings"]] == [("/eventTime", "format")]


def test_warnings_alone_reject_nothing() -> None:
    result = _run(str(EVENTS / "handwritten" / "misplaced-facets.json"))
    assert result.exit_code == 0
    assert "(misplaced_facet)" in result.stdout
    assert "(empty_schema)" in result.stdout


def test_an_error_at_the_root_is_the_events() -> None:
    result = _run("-", stdin=b"{}")
    assert "  error: /eventTime is required: eventTime (required)" in result.stdout
    assert "the event" not in result.stdout


def test_hostile_names_and_keys_cannot_drive_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "\x1b[31m.json"
    file.write_bytes(run_event(job={"namespace": "a", "name": "b", "facets": {"\x1b[2J": 1, "\ud800": 2}}))
    result = _run(str(file))
    assert "\x1b" not in result.stdout
    assert "error: /job/facets/\\x1b[2J must be an object (type)" in result.stdout
    assert "error: /job/facets/\\ud800 must be an object (type)" in result.stdout


def test_a_value_of_the_event_is_never_shown() -> None:
    facet = {"_producer": "SECRET", "_schemaURL": "SECRET", "fields": "SECRET", "message": "SECRET"}
    event = run_event(
        eventTime="SECRET", inputs=[{"namespace": "SECRET", "name": 1, "facets": {"errorMessage": facet}}]
    )
    for arguments in [("-",), ("--json", "-")]:
        result = _run(*arguments, stdin=event)
        assert "SECRET" not in result.output
        assert "misplaced_facet" in result.output


@pytest.mark.parametrize("arguments", [(), ("missing.json",), ("--formats", "lax", "-")])
def test_wrong_usage_is_status_2(arguments: tuple[str, ...]) -> None:
    assert _run(*arguments, stdin=b"").exit_code == 2
