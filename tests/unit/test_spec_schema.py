"""No part of the schema is idle: whatever is taken out of it, some written example tells the difference."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from tests.unit.test_spec import BROKEN, DROPPED, KEPT, URI, UUID, changed, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = json.loads((Path(__file__).parents[2] / "schemas" / "openlineage-2-0-2.json").read_bytes())
ROOTS = ("RunEvent", "DatasetEvent", "JobEvent")

_JOB = {"namespace": "retail", "name": "orders"}
_DATASET = {"namespace": "s3://lake", "name": "raw"}
_BASE = {"eventTime": "2025-06-15T12:00:00Z", "producer": URI, "schemaURL": URI}
# (event, the kinds it is).
OTHERS: list[tuple[object, set[str]]] = [
    (_BASE | {"dataset": _DATASET}, {"DatasetEvent"}),
    (_BASE | {"dataset": {}}, set()),
    ({"dataset": _DATASET}, set()),
    (_BASE | {"dataset": _DATASET, "run": {"runId": UUID}}, {"DatasetEvent"}),
    (_BASE | {"dataset": _DATASET, "run": {"runId": UUID}, "job": _JOB}, {"RunEvent"}),
    (_BASE | {"dataset": _DATASET, "job": _JOB}, {"DatasetEvent", "JobEvent"}),
    (_BASE | {"dataset": None, "job": _JOB}, {"JobEvent"}),
    (_BASE | {"job": _JOB}, {"JobEvent"}),
    (_BASE | {"job": _JOB, "inputs": [_DATASET], "outputs": [_DATASET]}, {"JobEvent"}),
    (_BASE | {"job": _JOB, "inputs": None}, set()),
    (_BASE | {"job": _JOB, "outputs": None}, set()),
    (_BASE | {"job": {}}, set()),
    (_BASE, set()),
    ({"job": _JOB}, set()),
    ([], set()),
]
EXAMPLES = [
    whole(),
    *(changed(whole(), path, value) for path, value, _, _ in BROKEN),
    *(changed(whole(), path, value) for path, value in KEPT),
    # The same without a run: a whole JobEvent, and one that is a DatasetEvent too.
    *(changed(event, ("run",), DROPPED) for event in [whole(), whole() | {"dataset": _DATASET}]),
    *(event for event, _ in OTHERS),
]


def _verdicts(document: dict[str, Any]) -> list[bool]:
    """Judge each example as each kind of event, and as any."""
    roots = [document, *({"$ref": f"#/$defs/{kind}", "$defs": document["$defs"]} for kind in ROOTS)]
    judges = [jsonschema_rs.Draft202012Validator(root, validate_formats=True) for root in roots]
    return [judge.is_valid(example) for judge in judges for example in EXAMPLES]


def _removals(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Find every member and every element there is to take out."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _removals(part, (*path, key))


# Not a whole definition: without one, what refers to it is no schema any more.
REMOVALS = [path for path in _removals(DOCUMENT) if path[0] == "oneOf" or (path[0] == "$defs" and len(path) > 2)]
ORIGINAL = _verdicts(DOCUMENT)


@pytest.mark.parametrize("path", REMOVALS, ids=lambda path: "/".join(map(str, path)))
def test_each_part_of_the_schema_decides_some_example(path: tuple[str | int, ...]) -> None:
    """Each `required` entry, `type`, `format`, value of an `enum`, property and reference, taken out by itself."""
    mutant = deepcopy(DOCUMENT)
    *parents, last = path
    place = mutant
    for key in parents:
        place = place[key]
    del place[last]
    assert _verdicts(mutant) != ORIGINAL


@pytest.mark.parametrize(("event", "kinds"), OTHERS)
def test_an_event_is_of_the_kinds_it_is(event: object, kinds: set[str]) -> None:
    for kind in ROOTS:
        judge = jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": DOCUMENT["$defs"]})
        assert judge.is_valid(event) is (kind in kinds)


def test_the_schema_is_draft_2020_12_under_the_specifications_own_id() -> None:
    Draft202012Validator.check_schema(DOCUMENT)
    assert DOCUMENT["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert DOCUMENT["$id"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json"


def test_the_schema_says_nothing_that_a_violation_could_not_name() -> None:
    """A RunEvent's rules are of four kinds; `not` and `oneOf` belong to the kinds that DataZone does not take."""
    keywords = {
        path[-1]
        for path in REMOVALS
        if path[0] == "$defs" and "not" not in path and path[-2] != "properties" and isinstance(path[-1], str)
    }
    assert keywords == {
        *("$ref", "allOf", "properties", "additionalProperties", "items"),
        *("required", "type", "enum", "format"),
    }
