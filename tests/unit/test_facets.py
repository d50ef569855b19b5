"""What is doubtful about an event that is accepted: facets that are read by nobody, and runs that say nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema_rs import Draft202012Validator, Registry

from adapter.facets import HOMES, warnings
from tests.sample import valid
from tests.unit.facet_examples import EXAMPLES, NESTED, Example
from tests.unit.test_spec import DROPPED, FACETS, changed, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

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
PLACE_HOLDERS = {
    "run.facets": "RunFacets",
    "job.facets": "JobFacets",
    "inputs[].facets": "DatasetFacets",
    "outputs[].facets": "DatasetFacets",
    "inputs[].inputFacets": "InputFacets",
    "outputs[].outputFacets": "OutputFacets",
}
MESSAGE: Example = EXAMPLES["RunFacets"]["errorMessage"]
HOLDER_PATHS = {PLACE_HOLDERS[".".join(map(str, path)).replace(".0", "[]")]: path for path in FACETS}


def _facet(**more: object) -> dict[str, object]:
    return {"_producer": "https://example.com", "_schemaURL": URL, **more}


def _example(path: tuple[str | int, ...], name: str) -> Example:
    return EXAMPLES[PLACE_HOLDERS[_place(path)]][name]


def _found(event: Example) -> list[tuple[str, str]]:
    return [(one.path, one.rule) for one in warnings(event)]


def _place(path: tuple[str | int, ...]) -> str:
    return ".".join(str(key) for key in path).replace(".0", "[]")


def _with(path: tuple[str | int, ...], facets: dict[str, object]) -> dict[str, Any]:
    bare: dict[str, Any] = {"run": {}, "job": {}, "inputs": [{}], "outputs": [{}]}
    return changed(bare, path, facets)


@pytest.mark.parametrize("path", FACETS)
@pytest.mark.parametrize("name", sorted(frozenset[str]().union(*HOMES.values())))
def test_a_standard_facet_is_read_at_its_homes_only(name: str, path: tuple[str | int, ...]) -> None:
    at_home = name in HOMES[_place(path)]
    pointer = "".join(f"/{key}" for key in (*path, name))
    facet = _facet(**_example(path, name)) if at_home else _facet(fields=[{"name": "id"}])
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


@pytest.mark.parametrize("fields", [{}, {"fields": []}])
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
        {},
        {"run": [], "job": None, "inputs": {}, "outputs": "x"},
        {"run": {"facets": []}, "inputs": [1, {"facets": 2}]},
        {"run": {"facets": {"f": [], "g": {"_schemaURL": 1}}}},
    ],
)
def test_odd_shapes_are_the_schemas_business(event: Example) -> None:
    """Alone, and beside something doubtful."""
    assert _found(event) == []
    doubtful = {"f": {"_schemaURL": "https://example.com/facet.json"}}
    outputs = [1, {"facets": doubtful}]
    assert _found({**event, "outputs": outputs}) == [("/outputs/1/facets/f/_schemaURL", "unversioned_schema_url")]


def test_what_is_doubtful_about_the_emitters_samples() -> None:
    """Schemas of no version, dbt's assertions of outputs, and Spark's data source without a scheme."""
    found = {(path.parent.name, rule) for path in valid() for _, rule in _found(json.loads(path.read_bytes()))}
    assert found == {
        ("dbt", "misplaced_facet"),
        ("dbt", "unversioned_schema_url"),
        ("great_expectations", "unversioned_schema_url"),
        ("handwritten", "empty_schema"),
        ("handwritten", "misplaced_facet"),
        ("spark", "misshapen_facet"),
    }


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official facets do not lie beside this repository")
def test_the_table_is_that_of_the_official_facets() -> None:
    official: set[tuple[str, str]] = set()
    for file in OFFICIAL.glob("*.json"):
        document = json.loads(file.read_bytes())
        extended = [part.get("$ref", "") for facet in document["$defs"].values() for part in facet.get("allOf", ())]
        bases = [reference.rpartition("/")[2] for reference in extended if "/OpenLineage.json#/" in reference]
        official |= {(name, place) for name in document["properties"] for base in bases for place in PLACES[base]}
    ours = {(name, place) for place, names in HOMES.items() for name in names}
    assert ours == official


def _variants(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yield each place below `value`, with each thing to put there: nothing, and a value of every kind."""
    if path:
        yield from ((path, other) for other in (DROPPED, None, 0, 1.5, "x", True, [], {}, [0], {"x": 0}))
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _variants(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _variants(inner, (*path, index))


CASES = [(holder, name) for holder, facets in EXAMPLES.items() for name in facets]


def test_there_is_an_example_of_every_standard_facet() -> None:
    assert {holder: set(names) for holder, names in EXAMPLES.items()} == {
        holder: set(HOMES[place]) for place, holder in PLACE_HOLDERS.items()
    }


@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="the official facets do not lie beside this repository")
@pytest.mark.parametrize(("holder", "name"), CASES)
def test_shapes_are_judged_as_the_official_schemas_judge_them(holder: str, name: str) -> None:
    """Over every change of one value in a whole facet: what they accept is not doubted, and what they refuse is."""
    example = _facet(**EXAMPLES[holder][name])
    official = _official(holder, name)
    path = HOLDER_PATHS[holder]
    for place, value in _variants(EXAMPLES[holder][name]):
        facet = changed(example, place, value)
        doubted = any(rule == "misshapen_facet" for _, rule in _found(_with(path, {name: facet})))
        assert doubted is not official.is_valid({name: facet}), (place, value)


def _official(holder: str, name: str) -> Draft202012Validator:
    """Find the official document of a facet: it names the facet and extends what the holder's facets extend."""
    base = "DatasetFacet" if holder == "DatasetFacets" else {"InputFacets": "InputDatasetFacet"}.get(holder)
    base = base or {"OutputFacets": "OutputDatasetFacet"}.get(holder) or holder.removesuffix("s")
    core = json.loads((OFFICIAL.parent / "OpenLineage.json").read_bytes())
    registry = Registry([(core["$id"], core)])
    for file in OFFICIAL.glob("*.json"):
        document = json.loads(file.read_bytes())
        definitions = document["$defs"].items()
        bases = {
            kind: part["$ref"].rpartition("/")[2]
            for kind, facet in definitions
            for part in facet.get("allOf", ())
            if "/OpenLineage.json#/" in part.get("$ref", "")
        }
        if name in document["properties"] and base in bases.values():
            kind = next(kind for kind, extended in bases.items() if extended == base)
            root = {**document, "properties": {name: {"$ref": f"#/$defs/{kind}"}}}
            return Draft202012Validator(root, registry=registry, validate_formats=True)
    raise LookupError(name)


@pytest.mark.parametrize(("holder", "name"), CASES)
def test_what_asks_for_its_own_deletion_has_any_shape(holder: str, name: str) -> None:
    assert _found(_with(HOLDER_PATHS[holder], {name: _facet(_deleted=True)})) == []


def test_a_misshapen_facet_is_pointed_at_by_place_and_rule() -> None:
    def said(path: tuple[str | int, ...], facets: Example) -> list[tuple[str, str]]:
        return [(one.path, one.message) for one in warnings(_with(path, facets))]

    lacking = "lacks query of the facet's schema: it cannot be read as it is"
    assert said(("job", "facets"), {"sql": _facet()}) == [("/job/facets/sql", lacking)]
    wrong = "breaks the rule type of the facet's schema: it cannot be read as it is"
    fields = {"schema": _facet(fields=[{"name": "SECRET"}, {"name": 1}])}
    assert said(("outputs", 0, "facets"), fields) == [("/outputs/0/facets/schema/fields/1/name", wrong)]
    parent = {"parent": _facet(run={"runId": "SECRET"}, job={"namespace": "n", "name": "n", "facets": NESTED})}
    ((place, message),) = said(("run", "facets"), parent)
    assert place == "/run/facets/parent/run/runId"
    assert "SECRET" not in message


@pytest.mark.parametrize("kind", ["COMPLETE", "ABORT", "FAIL"])
def test_a_run_that_ends_without_datasets_and_error_says_nothing(kind: str) -> None:
    ended = {"eventType": kind, "run": {"facets": {}}}
    assert _found(ended) == _found(ended | {"inputs": [], "outputs": []}) == [("", "says_nothing")]
    heard: list[Example] = [
        {"inputs": [{}]},
        {"outputs": [{}]},
        {"run": {"facets": {"errorMessage": _facet(**MESSAGE)}}},
    ]
    for more in heard:
        assert _found(ended | more) == []


@pytest.mark.parametrize("kind", ["START", "RUNNING", "OTHER", None])
def test_a_run_that_goes_on_may_say_nothing_yet(kind: str | None) -> None:
    assert _found({"eventType": kind, "run": {}}) == []


def _nested(depth: int) -> list[dict[str, Any]]:
    fields: list[dict[str, Any]] = [{"name": 1}]
    for _ in range(depth):
        fields = [{"name": "a", "fields": fields}]
    return fields


def test_what_the_library_cannot_look_at_is_not_doubted_and_raises_nothing() -> None:
    path = ("outputs", 0, "facets")
    assert _found(_with(path, {"schema": _facet(fields=[{"fields": _nested(5000)}])})) == []
    assert _found(_with(path, {"dataSource": _facet(uri="s3://\ud800")})) == []
    assert [rule for _, rule in _found(_with(path, {"\ud800": _facet(), "sql": _facet()}))] == ["misplaced_facet"]
