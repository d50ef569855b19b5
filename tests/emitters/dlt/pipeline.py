"""Two resources of a retail company: orders arrive with their lines, the export of stores breaks off."""

import contextlib
import logging
import runpy
import sys
from collections.abc import Iterator
from typing import Any

import dlt
from dlt.pipeline.exceptions import PipelineStepFailed

# What a pipeline's own script would do first: what the page shows, and where the client's log goes.
logging.basicConfig(stream=sys.stdout)
runpy.run_path("lineage.py")


@dlt.resource
def orders() -> Iterator[dict[str, Any]]:
    yield {"order_id": 1, "store": "Basel", "lines": [{"sku": "pen", "pieces": 2}]}
    yield {"order_id": 2, "store": "Zürich", "lines": [{"sku": "ink", "pieces": 1}]}


@dlt.resource
def stores() -> Iterator[dict[str, Any]]:
    yield {"store": "Basel"}
    raise RuntimeError("the export broke off")


pipeline = dlt.pipeline("retail_orders", destination="duckdb", dataset_name="raw", pipelines_dir="state")
pipeline.run(orders())
with contextlib.suppress(PipelineStepFailed):
    pipeline.run(stores())
