"""Standard facets in the wrong place or shape: well-formed, accepted, delivered, and read by nobody.

Never a reason to refuse an event. Sources: the standard facets' schemas at https://openlineage.io/spec/facets/, each of
which extends RunFacet, JobFacet, DatasetFacet, InputDatasetFacet or OutputDatasetFacet of OpenLineage 2-0-2.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from adapter.model import Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATASET = ("inputs[].facets", "outputs[].facets")
# The standard facets by where they belong. A name may be at home in several places, with different facets.
HOMES = {
    ("run.facets",): {
        *("environmentVariables", "errorMessage", "executionParameters", "externalQuery", "extractionError"),
        *("jobDependencies", "nominalTime", "parent", "processing_engine", "tags", "test"),
    },
    ("job.facets",): {
        *("documentation", "jobType", "lineage", "ownership", "sql", "sourceCode", "sourceCodeLocation", "tags"),
    },
    _DATASET: {
        *("catalog", "columnLineage", "dataQualityMetrics", "dataSource", "datasetType", "documentation", "hierarchy"),
        *("lifecycleStateChange", "lineage", "ownership", "schema", "storage", "symlinks", "tags", "version"),
    },
    ("inputs[].inputFacets",): {"dataQualityAssertions", "dataQualityMetrics", "inputStatistics", "subset"},
    ("outputs[].outputFacets",): {"outputStatistics", "subset"},
}
# 1-0-0, 1.54.0, v2.1, or a commit.
_VERSION = re.compile(r"[0-9]+[-.][0-9]+|\b[0-9a-f]{40}\b")


def warnings(event: object) -> Iterator[Violation]:
    """Yield what is doubtful about the facets of a parsed event, in no particular order of importance.

    `rule` is `misplaced_facet`, `empty_schema` or `unversioned_schema_url`; `message` says what to do.
    """
    for path, place, name, facet in _facets(event):
        homes = _homes(name)
        if homes and place not in homes:
            yield Violation(path, "misplaced_facet", f"is read in {' or '.join(homes)} only: move it there")
        if not isinstance(facet, dict):
            continue
        if name == "schema" and place in _DATASET and not (facet.get("fields") or facet.get("_deleted")):
            yield Violation(path, "empty_schema", "has no fields: list them, or leave the facet out")
        url = facet.get("_schemaURL")
        if isinstance(url, str) and not _VERSION.search(url):
            message = "names no version: point to one version of the facet's schema, like …/1-0-0/MyRunFacet.json"
            yield Violation(step(path, "_schemaURL"), "unversioned_schema_url", message)


def _homes(name: str) -> tuple[str, ...]:
    return tuple(home for homes, names in HOMES.items() if name in names for home in homes)


def _facets(event: object) -> Iterator[tuple[str, str, str, object]]:
    """Yield pointer, place, name and value of every facet, in document order within each holder."""
    for path, owner, holder in _holders(event):
        for kind in ("facets", "inputFacets", "outputFacets"):
            facets = holder.get(kind)
            for name, facet in facets.items() if isinstance(facets, dict) else ():
                yield step(step(path, kind), name), f"{owner}.{kind}", name, facet


def _holders(event: object) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield pointer, place and value of all that facets hang on."""
    if not isinstance(event, dict):
        return
    for key in ("run", "job"):
        if isinstance(holder := event.get(key), dict):
            yield f"/{key}", key, holder
    for key in ("inputs", "outputs"):
        datasets = event.get(key)
        for index, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            if isinstance(dataset, dict):
                yield f"/{key}/{index}", f"{key}[]", dataset
