"""Too large: what of the event is, and how its emitter is told to send less."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from adapter.model import Code, Rejected, Violation
from adapter.pointer import step

if TYPE_CHECKING:
    from collections.abc import Iterator

# Amazon DataZone API reference, PostLineageEvent, event: at most 300,000 bytes (not 307,200).
MAX_EVENT_BYTES = 300_000
_NAMED = 5
# Six megabytes of real lineage have some 300,000 brackets and commas. Parsed, each is a value of up to 200 bytes, so
# what is made of little else would cost a function thirty times its size.
_MAX_MARKS = 500_000

# The emitter's own switch for the facets known to grow: OpenLineage's Spark configuration and the Airflow provider's
# configuration reference.
_SWITCHES = {
    "spark.logicalPlan": "spark.openlineage.facets.spark.logicalPlan.disabled=true",
    "spark_unknown": "spark.openlineage.facets.spark_unknown.disabled=true",
    "debug": "spark.openlineage.facets.debug.disabled=true",
    "spark_properties": "a shorter spark.openlineage.capturedProperties",
    "columnLineage": "spark.openlineage.columnLineage.datasetLineageEnabled=true, or a smaller job",
    "airflow": "[openlineage] include_full_task_info=False",
    "sourceCode": "[openlineage] disable_source_code=True",
}


def too_large(raw: bytes) -> Rejected:
    """Refuse `raw`, naming its largest facets with their bytes and, where known, the setting that turns each down."""
    return Rejected(Code.TOO_LARGE, f"{len(raw)} bytes; DataZone takes {MAX_EVENT_BYTES}", _largest_facets(raw))


def _largest_facets(raw: bytes) -> tuple[Violation, ...]:
    if sum(map(raw.count, (b"{", b"[", b","))) > _MAX_MARKS:
        return ()
    try:
        event = json.loads(raw)
        sized = [(_bytes(facet), path, name) for path, name, facet in _facets(event)]
    except (ValueError, RecursionError):
        return ()  # not JSON: large is all that can be said of it
    return tuple(_named(*facet) for facet in sorted(sized, reverse=True)[:_NAMED])


def _named(size: int, path: str, name: str) -> Violation:
    switch = f"; to send less: {_SWITCHES[name]}" if name in _SWITCHES else ""
    return Violation(path, "size", f"{size} bytes{switch}")


def _bytes(facet: object) -> int:
    return len(json.dumps(facet, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def _facets(event: object) -> Iterator[tuple[str, str, object]]:
    """Yield pointer, name and value of every facet: of the run, the job and each dataset (OpenLineage 2-0-2)."""
    for path, holder in _holders(event):
        for kind in ("facets", "inputFacets", "outputFacets"):
            facets = holder.get(kind)
            if isinstance(facets, dict):
                for name, facet in facets.items():
                    yield step(step(path, kind), name), name, facet


def _holders(event: object) -> Iterator[tuple[str, dict[str, object]]]:
    if not isinstance(event, dict):
        return
    for key in ("run", "job"):
        if isinstance(holder := event.get(key), dict):
            yield f"/{key}", holder
    for key in ("inputs", "outputs"):
        datasets = event.get(key)
        for index, dataset in enumerate(datasets if isinstance(datasets, list) else ()):
            if isinstance(dataset, dict):
                yield f"/{key}/{index}", dataset
