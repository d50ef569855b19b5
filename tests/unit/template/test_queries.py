"""The questions that people ask of the logs, saved with the stack: run here over the lines that the doors write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests import driven
from tests.insights import Query, QueryError
from tests.unit.template.deployed import given, of_type

if TYPE_CHECKING:
    from tests.insights import Row

QUERIES = {name: one["QueryString"] for name, one in of_type("AWS::Logs::QueryDefinition").items()}
# What Logs Insights adds to each line.
DISCOVERED = {"@timestamp"}


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    # A logger is known by its service and keeps the first standard output it saw: each test has one of its own.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"asked-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    driven.drive()
    return list(driven.lines(capsys.readouterr().out))


def _asked(name: str, log: list[dict[str, Any]]) -> list[Row]:
    return Query(QUERIES[name]).run(log)


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_asks_for_fields_that_lines_have(name: str, log: list[dict[str, Any]]) -> None:
    there = {field for line in log for field in _flattened(line)}
    assert Query(QUERIES[name]).fields <= there | DISCOVERED


def _flattened(line: dict[str, Any]) -> set[str]:
    listed = {f"{name}.0.{inner}" for name, value in line.items() if isinstance(value, list) for inner in _inner(value)}
    return line.keys() | listed


def _inner(value: list[Any]) -> set[str]:
    return {name for one in value if isinstance(one, dict) for name in one}


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_finds_something(name: str, log: list[dict[str, Any]]) -> None:
    query = QUERIES[name].replace("JOB", "orders.daily")
    assert Query(query).run(log)


def test_what_became_of_a_run_is_told_through_all_doors_to_the_end_in_datazone(log: list[dict[str, Any]]) -> None:
    run = next(line["run_id"] for line in log if line["message"] == "failed in datazone")
    rows = Query(QUERIES["RunQuery"].replace("RUN", run)).run(log)
    assert {row["run_id"] for row in rows} == {run}
    assert {(row["outcome"], row["why"]) for row in rows} >= {("deferred", "access_denied"), ("delivered", None)}
    assert rows[-1]["outcome"] == "failed"


def test_refusals_are_told_by_rule_and_producer(log: list[dict[str, Any]]) -> None:
    rows = {row["code"]: row for row in _asked("RejectedQuery", log)}
    assert rows.keys() == {"schema_violation", "namespace_not_allowed"}
    assert {row["producer"] for row in rows.values()} == {driven.PRODUCER}
    violation = rows["schema_violation"]
    assert (violation["errors.0.rule"], violation["errors.0.path"]) == ("required", "/job/name")
    assert (violation["events"], violation["example"]) == (1, "quarantine/schema_violation/x.event")


def test_what_waits_is_told_from_what_was_delivered_since(log: list[dict[str, Any]]) -> None:
    waited = [line for line in log if line.get("outcome") == "deferred" and "client_token" in line]
    later = [{**waited[0], "outcome": "delivered", "cause": None}]
    other = [{**waited[0], "client_token": "0" * 64}]
    rows = _asked("DeferredQuery", [*waited, *later, *other])
    assert [(row["client_token"], row["deferred"], row["delivered"], row["why"]) for row in rows] == [
        ("0" * 64, 1, 0, "access_denied"),
        (waited[0]["client_token"], len(waited), 1, "access_denied"),
    ]


def test_the_time_of_datazone_is_told_by_door_with_its_retries(log: list[dict[str, Any]]) -> None:
    rows = {row["door"]: row for row in _asked("DataZoneTimeQuery", log)}
    assert rows.keys() == {"http", "kinesis", "backlog"}
    assert (rows["http"]["retries"], rows["kinesis"]["retries"]) == (1, 0)
    assert all(row["median"] <= row["p95"] <= row["p99"] <= row["longest"] for row in rows.values())


def test_who_is_let_in_and_who_is_not_is_told_by_token_and_reason(log: list[dict[str, Any]]) -> None:
    rows = _asked("AccessQuery", log)
    assert {(row["message"], row["producer"], row["token_id"], row["reason"]) for row in rows} == {
        ("admitted", driven.PRODUCER, "00000001", None),
        ("denied", driven.PRODUCER, None, "expired"),
        ("denied", None, None, "secret_unreadable"),
    }


def test_a_query_is_asked_of_the_groups_there_are() -> None:
    """And of no group that a parameter has left out: the stack could not be made."""
    for parameters in ({}, {"EnableStream": "true"}, {"Access": "open"}):
        resources = given(**parameters)
        for name in QUERIES:
            groups = [group["Ref"] for group in resources[name]["Properties"]["LogGroupNames"]]
            assert groups
            assert all(group in resources for group in groups)
    assert {"Ref": "KinesisLogGroup"} in given(EnableStream="true")["RejectedQuery"]["Properties"]["LogGroupNames"]
    assert {"Ref": "AuthorizerLogGroup"} in given()["AccessQuery"]["Properties"]["LogGroupNames"]


def test_the_runbook_lists_the_queries() -> None:
    """By the names that a person looks for in the console."""
    names = [one["Name"]["Fn::Sub"] for one in of_type("AWS::Logs::QueryDefinition").values()]
    table = (Path(__file__).parents[3] / "docs" / "operate.md").read_text().split("\n| query |", 1)[1]
    assert [f"${{AWS::StackName}}/{name}" for name in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)] == names


@pytest.mark.parametrize(
    "query", ["where x = 1", "filter x ~ 1", "filter nosuch(x)", "stats nosuch(x) by y", "sort x asc y", "limit 1 2"]
)
def test_what_is_no_query_is_found_out(query: str) -> None:
    with pytest.raises(QueryError):
        Query(query)
