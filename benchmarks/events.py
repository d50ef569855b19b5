"""The events that are measured: three sizes of the same kind, and the real ones."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable

EVENTS = Path(__file__).parents[1] / "events"

_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_FACET = {
    "_producer": "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/spark",
    "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet",
}

# Columns of the output, each with its lineage from two inputs, that make an event of about that many bytes.
SIZES = {"1 KB": 1, "22 KB": 48, "290 KB": 643}


def wide(columns: int, run: int = 1) -> bytes:
    """Make a COMPLETE event of one dataset with column lineage, as openlineage-spark writes it, in run `run`."""
    names = [f"customer_attribute_{number}" for number in range(columns)]
    output = {
        "namespace": "s3://warehouse",
        "name": "retail/orders_enriched",
        "facets": {
            "schema": _FACET | {"fields": [{"name": name, "type": "string"} for name in names]},
            "columnLineage": _FACET | {"fields": {name: _lineage(name) for name in names}},
        },
    }
    event = {
        "eventTime": "2026-11-29T10:00:00.123Z",
        "producer": _FACET["_producer"],
        "schemaURL": _SCHEMA,
        "eventType": "COMPLETE",
        "run": {"runId": str(UUID(int=run, version=4)), "facets": {}},
        "job": {"namespace": "retail", "name": "orders.enrich_daily", "facets": {}},
        "inputs": [],
        "outputs": [output],
    }
    return json.dumps(event, separators=(",", ":")).encode()


def _lineage(name: str) -> dict[str, object]:
    change = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}
    return {"inputFields": [_field(f"retail/{table}", name, change) for table in ("orders", "customers")]}


def _field(table: str, name: str, change: dict[str, object]) -> dict[str, object]:
    return {"namespace": "s3://warehouse", "name": table, "field": name, "transformations": [change]}


def _one(columns: int) -> list[bytes]:
    return [wide(columns)]


def real() -> list[bytes]:
    """Give the sample events of events/ that are delivered."""
    index = json.loads((EVENTS / "index.json").read_bytes())
    return [(EVENTS / name).read_bytes() for name, expected in index.items() if expected["status"] == 200]  # noqa: PLR2004


# By name, what makes the events of that size.
BODIES: dict[str, Callable[[], list[bytes]]] = {
    **{size: partial(_one, columns) for size, columns in SIZES.items()},
    "the samples": real,
}
