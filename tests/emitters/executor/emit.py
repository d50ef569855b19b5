"""Emit one event through each of several transports, side by side: `python emit.py '[{"transport": {…}}, …]'`.

A case may ask for `padding`, a description of so many characters, or `naive`, a time without an offset. Prints a JSON
array: for each case the event as the client serialises it, how often it was raised or counted as failed, and seconds.
"""

from __future__ import annotations

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import JobFacet, documentation_job
from openlineage.client.serde import Serde
from openlineage.client.transport.async_http import AsyncHttpTransport
from openlineage.client.uuid import generate_new_uuid


def emit(case: dict[str, Any]) -> dict[str, Any]:
    """Emit one event; say what a program would see of it."""
    began = time.monotonic()
    event = made(case)
    seen = sent(OpenLineageClient(config={"transport": case["transport"]}), event)
    return {"event": Serde.to_json(event), "seen": seen, "seconds": time.monotonic() - began}


def made(case: dict[str, Any]) -> RunEvent:
    """Make an event that is no other's."""
    now = datetime.now(UTC)
    facets: dict[str, JobFacet] = {
        "documentation": documentation_job.DocumentationJobFacet("x" * case.get("padding", 0))
    }
    return RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=(now.replace(tzinfo=None) if case.get("naive") else now).isoformat(),
        run=Run(str(generate_new_uuid())),
        job=Job("retail.sales", "daily-revenue", facets=facets),
        producer="https://retail.example/step-runner/2.4.0",
    )


def sent(client: OpenLineageClient, event: RunEvent) -> str:
    """Send `event`; give what came of it in one or two words."""
    try:
        client.emit(event)
        client.close()
    except Exception as error:  # noqa: BLE001 - whatever the program would see is what is asked for
        return f"raises {type(error).__name__}"
    if isinstance(client.transport, AsyncHttpTransport):
        return next(how for how in ("pending", "failed", "success") if client.transport.get_stats()[how])
    return "returns"


if __name__ == "__main__":
    cases = json.loads(sys.argv[1])
    with ThreadPoolExecutor(len(cases)) as pool:
        print(json.dumps(list(pool.map(emit, cases))))  # noqa: T201 - the caller reads it
