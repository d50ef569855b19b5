"""Which facets are read by nobody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.facets import HOMES, warnings
from tests.sample import valid
from tests.unit.test_spec import FACETS, changed, whole

# OpenLineage's own facet schemas, no part of this repository; the table is held against them where they lie beside it.
OFFICIAL = Path(__file__).parents[3] / "shared" / "spec" / "facets"
PLACES = {
    "RunFacet": ("run.facets",),
    "JobFacet": ("job.facets",),
    "DatasetFacet": ("inputs[].facets", "outputs[].facets"),
    "InputDatasetFacet": ("inputs[].inputFacets",),
    "OutputDatasetFacet": ("outputs[].outputFacets",),
}
URL = "https://example.com/1-0-0/Facet.json"


def _facet(**more: object) -> dict[str, object]:
    return {"_producer": "https://example.com", "_schemaURL": URL, **more}


def _found(event: object) -> list[tuple[str, str]]:
    return [(one.path, one.rule) for one in warnings(event)]


def _place(path: tuple[str | int, ...]) -> str:
    return ".".join(str(key) for key in path).replace(".0", "[]")


def _with(path: tuple[str | int, ...], facets: dict[str, object]) -> dict[str, Any]:
    bare: dict[str, Any] = {"run": {}, "job": {}, "inputs": [{}], "outputs": [{}]}
    return changed(bare, path, facets)


@pytest.mark.parametrize("path", FACETS)
@pytest.mark.parametrize("name", sorted(set().union(*HOMES.values())))
def test_a_standard_facet_is_read_at_its_homes_only(name: str, path: tuple[str | int, ...]) -> None:
    at_home = any(name in names and _place(path) in homes for homes, names in HOMES.items())
    pointer = "".join(f"/{key}" for key in (*path, name))
    facet = _facet(fields=[{"name": "id"}])
    assert _found(_with(path, {name: facet})) == ([] if at_home else [(pointer, "misplaced_facet")])


def test_the_warning_says_where_a_facet_belongs() -> None:
    (one,) = warnings(_with(("outputs", 0, "outputFacets"), {"dataQualityAssertions": _facet()}))
    assert one.message == "is read in inputs[].inputFacets only: move it there"
    (one,) = warnings(_with(("run", "facets"), {"schema": _facet()}))
    assert one.message == "is read in inputs[].facets or outputs[].facets only: move it there"


def test_any_other_facet_may_be_anywhere() -> None:
    assert _found(whole()) == [
        ("/".join(["", *map(str, path), "f", "_schemaURL"]), "unversioned_schema_url") for path in FACETS
    ]
    for path in FACETS:
        assert _found(_with(path, {"retail_batch": _facet(), "broken": None})) == []


@pytest.mark.parametrize("fields", [{}, {"fields": []}, {"fields": None}])
@pytest.mark.parametrize("path", [("inputs", 0, "facets"), ("outputs", 0, "facets")])
def test_a_schema_without_fields_says_nothing(path: tuple[str | int, ...], fields: dict[str, object]) -> None:
    pointer = "".join(f"/{key}" for key in (*path, "schema"))
    assert _found(_with(path, {"schema": _facet(**fields)})) == [(pointer, "empty_schema")]


def test_a_deleted_schema_needs_no_fields() -> None:
    assert _found(_with(("outputs", 0, "facets"), {"schema": _facet(_deleted=True)})) == []


@pytest.mark.parametrize(
    ("url", "versioned"),
    [
        ("https://openlineage.io/spec/facets/1-1-0/SQLJobFacet.json", True),
        ("https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet", True),
        ("https://github.com/OpenLineage/OpenLineage/tree/1.54.0/facet.json", True),
        ("https://example.com/v2.1/facet.json", True),
        ("https://github.com/retail/facets/blob/3f5e83fa348044ff99c5ff943904e5e83f5e83fa/facet.json", True),
        ("https://github.com/OpenLineage/OpenLineage/tree/main/facet.json", False),
        ("https://example.com/facet.json", False),
        ("https://example.com/2/facet.json", False),
    ],
)
def test_a_schema_url_names_a_version(url: str, versioned: bool) -> None:  # noqa: FBT001 - a table's column
    event = _with(("run", "facets"), {"a/b": _facet() | {"_schemaURL": url}})
    assert _found(event) == ([] if versioned else [("/run/facets/a~1b/_schemaURL", "unversioned_schema_url")])


@pytest.mark.parametrize(
    "event",
    [
        [],
        {"run": [], "job": None, "inputs": {}, "outputs": "x"},
        {"run": {"facets": []}, "inputs": [1, {"facets": 2}]},
        {"run": {"facets": {"f": [], "g": {"_schemaURL": 1}}}},
    ],
)
def test_odd_shapes_are_the_schemas_business(event: object) -> None:
    assert _found(event) == []


def test_no_emitters_sample_but_dbts_and_great_expectations_is_doubtful() -> None:
    """Theirs point to unversioned schemas, and dbt's tests put assertions where they are not read."""
    doubtful = {path.parent.name for path in valid() if _found(json.loads(path.read_bytes()))}
    assert doubtful == {"dbt", "great_expectations", "handwritten"}


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official facets do not lie beside this repository")
def test_the_table_is_that_of_the_official_facets() -> None:
    official: set[tuple[str, str]] = set()
    for file in OFFICIAL.glob("*.json"):
        document = json.loads(file.read_bytes())
        extended = [part.get("$ref", "") for facet in document["$defs"].values() for part in facet.get("allOf", ())]
        bases = [reference.rpartition("/")[2] for reference in extended if "/OpenLineage.json#/" in reference]
        official |= {(name, place) for name in document["properties"] for base in bases for place in PLACES[base]}
    ours = {(name, place) for homes, names in HOMES.items() for name in names for place in homes}
    assert ours == official
