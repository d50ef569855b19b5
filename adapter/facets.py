"""What is doubtful about an event that is accepted all the same: its emitter may think it says more than is read.

Standard facets in a wrong place or shape, a schema without fields, a facet of no version, a run that ended and says
nothing. Never a reason to refuse an event. Source: the standard facets' schemas at https://openlineage.io/spec/facets/,
each of which extends RunFacet, JobFacet, DatasetFacet, InputDatasetFacet or OutputDatasetFacet of OpenLineage 2-0-2.

jsonschema-rs says whether a facet is doubtful at all, for the whole event at once; why is found here, for those events
only.
"""

from __future__ import annotations

import json
import re
from functools import cache, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema_rs import Draft202012Validator

from adapter.model import Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    type _Schema = dict[str, Any]
    # Keys and indices on the way down to a value; a pointer is made of them when there is something to point to.
    type _Parts = tuple[str | int, ...]
    # What is doubtful below a facet, the rule, and what to do.
    type _Doubt = tuple[_Parts, str, str]

_TERMINAL = frozenset({"COMPLETE", "ABORT", "FAIL"})
# 1-0-0, 1.54.0, v2.1, or a commit. Two patterns, since both in one take five times as long to search.
_VERSION = re.compile(r"[0-9][-.][0-9]")
_COMMIT = re.compile(r"\b[0-9a-f]{40}\b")
# A facet that asks for its own deletion (JobFacet and DatasetFacet of 2-0-2) has nothing more to say.
_DELETED = {"type": "object", "required": ["_deleted"], "properties": {"_deleted": {"const": True}}}


def warnings(event: Mapping[str, object]) -> Iterator[Violation]:
    """Yield what is doubtful about a parsed event, in document order within each holder of facets. Never raises.

    `rule` is `misplaced_facet`, `misshapen_facet`, `empty_schema`, `unversioned_schema_url` or `says_nothing`;
    `message` says what to do. Source: schemas/openlineage-facets.json.
    """
    if _says_nothing(event):
        message = "ends a run and names no input, no output and no error: nothing can be drawn from it"
        yield Violation("", "says_nothing", message)
    if not _undoubted(event):
        for parts, place, name, facet in _facets(event):
            for below, rule, message in _doubts(place, name, facet):
                yield Violation(reduce(step, (*parts, *below), ""), rule, message)


def _says_nothing(event: Mapping[str, object]) -> bool:
    match event:
        case {"eventType": str(kind), "run": {"facets": {"errorMessage": _}}} if kind in _TERMINAL:
            return False
        case {"eventType": str(kind), **rest} if kind in _TERMINAL:
            return not (rest.get("inputs") or rest.get("outputs"))
    return False


def _undoubted(event: Mapping[str, object]) -> bool:
    try:
        return bool(_GATE.is_valid(event))
    except UnicodeEncodeError:
        return False  # a lone surrogate where the schema has a say: the library cannot look at it


def _doubts(place: str, name: str, facet: object) -> Iterator[_Doubt]:
    homes = _HOMES_OF.get(name)
    if homes and place not in homes:
        yield (), "misplaced_facet", f"is read in {' or '.join(homes)} only: move it there"
    if not isinstance(facet, dict):
        return
    if homes and place in homes:
        yield from _misshapen(facet, _judge(_HOLDERS[place], name))
    if name == "schema" and place in _OF_DATASETS and not (facet.get("fields") or facet.get("_deleted")):
        yield (), "empty_schema", "has no fields: list them, or leave the facet out"
    url = facet.get("_schemaURL")
    if isinstance(url, str) and not (_VERSION.search(url) or _COMMIT.search(url)):
        message = "names no version: point to one version of the facet's schema, like …/1-0-0/MyRunFacet.json"
        yield ("_schemaURL",), "unversioned_schema_url", message


def _misshapen(facet: Mapping[str, object], judge: Draft202012Validator) -> Iterator[_Doubt]:
    """Point to the first thing that keeps a facet from being read, by the rule it breaks and not by what is there."""
    try:
        error = next(judge.iter_errors(facet), None)
    except (UnicodeEncodeError, ValueError):
        return  # a lone surrogate, or a schema's fields nested beyond the library's own limit
    if error is None:
        return
    lacking = getattr(error.kind, "property", "")
    what = f"lacks {lacking}" if lacking else f"breaks the rule {error.kind.name}"
    yield tuple(error.instance_path), "misshapen_facet", f"{what} of the facet's schema: it cannot be read as it is"


def _facets(event: Mapping[str, object]) -> Iterator[tuple[_Parts, str, str, object]]:
    """Yield where it is, place, name and value of every facet, in document order within each holder."""
    for parts, owner, holder in _holders(event):
        for kind in ("facets", "inputFacets", "outputFacets"):
            facets, place = holder.get(kind), f"{owner}.{kind}"
            for name, facet in facets.items() if isinstance(facets, dict) and place in HOMES else ():
                yield (*parts, kind, name), place, name, facet


def _holders(event: Mapping[str, object]) -> Iterator[tuple[_Parts, str, dict[str, object]]]:
    """Yield where it is, place and value of all that facets hang on."""
    for key in ("run", "job"):
        if isinstance(holder := event.get(key), dict):
            yield (key,), key, holder
    for key in ("inputs", "outputs"):
        datasets = event.get(key)
        for index, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            if isinstance(dataset, dict):
                yield (key, index), f"{key}[]", dataset


def _validator(schema: _Schema) -> Draft202012Validator:
    return Draft202012Validator(schema | {"$defs": _DEFINITIONS}, validate_formats=True)


@cache
def _judge(holder: str, name: str) -> Draft202012Validator:
    """Compile what judges one kind of facet, when there is one to point a finger at."""
    return _validator({"if": _DELETED, "then": True, "else": _DEFINITIONS[holder]["properties"][name]})


def _gate(holder: str) -> _Schema:
    """Make the schema of those facets of one kind about which nothing is doubtful."""
    own = {name: {"anyOf": [_DELETED, schema]} for name, schema in _DEFINITIONS[holder]["properties"].items()}
    if "schema" in own:
        own["schema"] = {"anyOf": [_DELETED, {"allOf": [_DEFINITIONS[holder]["properties"]["schema"], _WITH_FIELDS]}]}
    return {
        "properties": own,
        "propertyNames": {"not": {"enum": sorted(_NAMES - own.keys())}},
        # Of all of them, not just of those without a schema here.
        "allOf": [{"additionalProperties": _VERSIONED}],
    }


_WITH_FIELDS = {"required": ["fields"], "properties": {"fields": {"minItems": 1}}}
_VERSIONED = {"properties": {"_schemaURL": {"pattern": f"{_VERSION.pattern}|{_COMMIT.pattern}"}}}

# Read and compiled once, when the function starts.
_DEFINITIONS: _Schema = json.loads((Path(__file__).parent.parent / "schemas" / "openlineage-facets.json").read_bytes())[
    "$defs"
]
_HOLDERS = {
    "run.facets": "RunFacets",
    "job.facets": "JobFacets",
    "inputs[].facets": "DatasetFacets",
    "outputs[].facets": "DatasetFacets",
    "inputs[].inputFacets": "InputFacets",
    "outputs[].outputFacets": "OutputFacets",
}
_OF_DATASETS = ("inputs[].facets", "outputs[].facets")
# The standard facets by where they belong. A name may be at home in several places, with different facets.
HOMES = {place: frozenset(_DEFINITIONS[holder]["properties"]) for place, holder in _HOLDERS.items()}
_NAMES = frozenset[str]().union(*HOMES.values())
_HOMES_OF = {name: [home for home, names in HOMES.items() if name in names] for name in _NAMES}
_GATE = _validator(
    {
        "properties": {
            "run": {"properties": {"facets": _gate("RunFacets")}},
            "job": {"properties": {"facets": _gate("JobFacets")}},
            "inputs": {
                "items": {"properties": {"facets": _gate("DatasetFacets"), "inputFacets": _gate("InputFacets")}}
            },
            "outputs": {
                "items": {"properties": {"facets": _gate("DatasetFacets"), "outputFacets": _gate("OutputFacets")}}
            },
        }
    }
)
