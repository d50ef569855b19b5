"""What a verdict of `accept` tells besides its code; test_accept.py has the codes."""

from __future__ import annotations

import json

import pytest

from adapter.accept import accept
from adapter.model import MAX_ERRORS, Code, FormatAssertion, Job, Rejected, RunEvent, Violation
from tests.fakes import run_event

FACET = {"_schemaURL": "https://example.com/facet.json"}


def _refused(raw: bytes) -> Rejected:
    verdict = accept(raw)
    assert isinstance(verdict, Rejected)
    return verdict


@pytest.mark.parametrize("broken", [{"eventTime": None}, {"eventTime": "2026-11-29T10:00:00"}, {"inputs": None}])
def test_a_refused_event_is_laid_at_its_jobs_door(broken: dict[str, object]) -> None:
    assert _refused(run_event(**broken)).job == Job("retail", "orders.daily")  # type: ignore[arg-type]  # no `run` here


def test_an_event_of_another_kind_is_laid_at_its_jobs_door() -> None:
    event = json.dumps({"job": {"namespace": "retail", "name": "orders.daily"}}).encode()
    assert _refused(event).job == Job("retail", "orders.daily")


@pytest.mark.parametrize("job", [None, {}, {"namespace": "retail"}, {"name": "x"}, {"namespace": "retail", "name": 1}])
def test_a_job_without_its_names_is_nobodys(job: object) -> None:
    assert _refused(run_event(job=job)).job is None


@pytest.mark.parametrize(
    ("many", "detail"),
    [
        (1, "violates OpenLineage 2-0-2 in 1 place"),
        (2, "violates OpenLineage 2-0-2 in 2 places"),
        (MAX_ERRORS, "violates OpenLineage 2-0-2 in 50 places"),
        (MAX_ERRORS + 1, "violates OpenLineage 2-0-2 in 51 places, the first 50 of them shown"),
    ],
)
def test_the_detail_counts_the_violations(many: int, detail: str) -> None:
    refused = _refused(run_event(inputs=[0] * many))
    assert refused.detail == detail
    assert len(refused.errors) == min(many, MAX_ERRORS)


def test_warnings_are_as_many_as_errors_would_be() -> None:
    facets = {f"f{number}": FACET | {"_producer": "no uri"} for number in range(MAX_ERRORS + 1)}
    job = {"namespace": "retail", "name": "orders.daily", "facets": facets}
    verdict = accept(run_event(job=job), FormatAssertion.WARN)
    assert isinstance(verdict, RunEvent)
    assert len(verdict.warnings) == MAX_ERRORS


def test_a_facets_size_is_that_of_its_compact_json() -> None:
    facet = FACET | {"_producer": "p" * 300_000}
    job = {"namespace": "retail", "name": "orders.daily", "facets": {"large": facet}}
    (error,) = _refused(run_event(job=job)).errors
    assert error.message == f"{len(json.dumps(facet, separators=(',', ':')))} bytes"


NOT_THEIRS = Rejected(
    Code.NAMESPACE_NOT_ALLOWED,
    "the job's namespace is not one of this producer's",
    (Violation("/job/namespace", "namespace", "fits none of the namespaces that are this producer's"),),
    Job("retail", "orders.daily"),
)


@pytest.mark.parametrize("namespaces", [("retail",), ("other", "ret*"), ("*",), ("ret?il",)])
def test_a_producer_writes_to_the_namespaces_that_are_its_own(namespaces: tuple[str, ...]) -> None:
    assert isinstance(accept(run_event(), namespaces=namespaces), RunEvent)


@pytest.mark.parametrize("namespaces", [(), ("Retail",), ("retai",), ("retail.*",), ("etail",)])
def test_a_producer_does_not_write_to_others(namespaces: tuple[str, ...]) -> None:
    """The refusal names no pattern and no value, and whose event it is."""
    assert accept(run_event(), namespaces=namespaces) == NOT_THEIRS


def test_what_is_no_event_is_that_and_not_somebody_else_s() -> None:
    verdict = accept(run_event(job={"namespace": "other", "name": 1}), namespaces=("retail",))
    assert isinstance(verdict, Rejected)
    assert verdict.code is Code.SCHEMA_VIOLATION
