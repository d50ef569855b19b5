"""A refusal for size that teaches."""

from __future__ import annotations

import json

import pytest

from adapter.accept import accept
from adapter.model import Code, Rejected, Violation
from tests.fakes import run_event


def _refused(raw: bytes) -> Rejected:
    verdict = accept(raw)
    assert isinstance(verdict, Rejected)
    assert verdict.code is Code.TOO_LARGE
    return verdict


def test_the_largest_facets_are_named_with_their_bytes_and_the_setting_that_turns_them_down() -> None:
    event = json.loads(run_event())
    event["run"]["facets"] = {"spark.logicalPlan": "x" * 200_000, "tiny": 1}
    event["job"]["facets"] = {"sql": "é" * 10_000}
    event["inputs"] = [{}, {"inputFacets": {"a/b": "x" * 50_000}}]
    event["outputs"] = [{"facets": {"columnLineage": {"fields": "x" * 90_000}}, "outputFacets": {"c": "x" * 500}}, 7]
    errors = _refused(json.dumps(event).encode()).errors
    assert [(error.path, error.rule, error.message.split(";")[0]) for error in errors] == [
        ("/run/facets/spark.logicalPlan", "size", "200002 bytes"),
        ("/outputs/0/facets/columnLineage", "size", "90013 bytes"),
        ("/inputs/1/inputFacets/a~1b", "size", "50002 bytes"),
        ("/job/facets/sql", "size", "20002 bytes"),
        ("/outputs/0/outputFacets/c", "size", "502 bytes"),
    ]
    assert "spark.openlineage.facets.spark.logicalPlan.disabled=true" in errors[0].message
    assert "xxx" not in repr(errors)


def test_an_event_large_outside_its_facets_is_refused_all_the_same() -> None:
    assert _refused(run_event(padding="x" * 300_000)).errors == ()


def test_facets_of_odd_shapes_are_stepped_over() -> None:
    odd = {"run": {"facets": [1]}, "job": 1, "inputs": {"0": 1}, "outputs": None, "x": "y" * 300_000}
    assert _refused(json.dumps(odd).encode()).errors == ()
    assert _refused(b"[" + b"1," * 200_000 + b"1]").errors == ()


def test_what_is_large_and_no_json_is_only_large() -> None:
    assert _refused(b"\xff" * 300_001).errors == ()
    assert _refused(b"[" * 300_001).errors == ()
    lone = b'{"job": {"facets": {"a": "\\ud800' + b"x" * 300_000 + b'"}}}'
    assert _refused(lone).errors[0].path == "/job/facets/a"


@pytest.mark.parametrize("mark", [",", "[", "{"])
@pytest.mark.parametrize(("marks", "named"), [(500_000, 1), (500_001, 0)])
def test_what_is_made_of_too_many_marks_is_not_parsed_for_its_facets(mark: str, marks: int, named: int) -> None:
    """Parsed it would take thirty times its size, for whoever has sent a few kilobytes of gzip."""
    raw = b'{"job": {"facets": {"a": "%s"}}}'
    others = sum(raw.count(one) for one in (b",", b"[", b"{"))
    assert len(_refused(raw % (mark * (marks - others)).encode()).errors) == named


def test_every_hint_is_a_setting() -> None:
    facets = {"airflow": "x" * 200_000, "unknown": "x" * 150_000}
    event = json.loads(run_event())
    event["run"]["facets"] = facets
    known, unknown = _refused(json.dumps(event).encode()).errors
    assert known.message.endswith("include_full_task_info=False")
    assert unknown == Violation("/run/facets/unknown", "size", "150002 bytes")
