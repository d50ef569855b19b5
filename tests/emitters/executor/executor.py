"""A small executor driven by a descriptor: `python executor.py pipelines.yml`.

One terminal event for each step: COMPLETE with schema and column lineage, OTHER with the results of its assertions, or
FAIL with the error's message. Each says why the data is processed (`processing`, on the job) and from which descriptor
the run came (`provenance`, on the run). Where to, the client reads from openlineage.yml.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attr
import yaml
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    column_lineage_dataset,
    data_quality_assertions_dataset,
    error_message_run,
    output_statistics_output_dataset,
    schema_dataset,
)
from openlineage.client.uuid import generate_new_uuid

if TYPE_CHECKING:
    from openlineage.client.facet_v2 import DatasetFacet, InputDatasetFacet

PRODUCER = "https://retail.example/step-runner/2.4.0"
SCHEMAS = "https://retail.example/schemas/1-0-0"


@attr.define
class ProcessingJobFacet(JobFacet):
    """Why data is processed, on which ground, and for how long the result is kept."""

    purpose: str
    legal_basis: str
    retention_days: int

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}/ProcessingJobFacet.json"


@attr.define
class ProvenanceRunFacet(RunFacet):
    """The descriptor a run came from, and with which parameters."""

    descriptor: str
    digest: str
    parameters: dict[str, Any]

    @staticmethod
    def _get_schema() -> str:
        return f"{SCHEMAS}/ProvenanceRunFacet.json"


class Executor:
    """Runs the steps of one descriptor."""

    def __init__(self, descriptor: Path) -> None:
        """Read `descriptor`."""
        raw = descriptor.read_bytes()
        self._plan = yaml.safe_load(raw)
        self._descriptor = descriptor.name
        self._digest = f"sha256:{sha256(raw).hexdigest()}"

    def events(self) -> list[RunEvent]:
        """Run each step; give its one event."""
        return [self._event(step) for step in self._plan["steps"]]

    def _event(self, step: dict[str, Any]) -> RunEvent:
        ended = next((state for key, state in ENDED.items() if key in step), RunState.COMPLETE)
        provenance = ProvenanceRunFacet(self._descriptor, self._digest, step.get("parameters", {}))
        processing = ProcessingJobFacet(step["purpose"], step["legal_basis"], step["retention_days"])
        return RunEvent(
            eventType=ended,
            eventTime=datetime.now(UTC).isoformat(),
            run=Run(str(generate_new_uuid()), facets={"retail_provenance": provenance, **_error(step)}),
            job=Job(self._plan["namespace"], step["name"], facets={"processing": processing}),
            producer=PRODUCER,
            inputs=[InputDataset(self._plan["warehouse"], step["reads"], inputFacets=_assertions(step))],
            outputs=self._outputs(step),
        )

    def _outputs(self, step: dict[str, Any]) -> list[OutputDataset]:
        if "writes" not in step:
            return []
        statistics = output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(rowCount=step["rows"])
        return [
            OutputDataset(
                self._plan["warehouse"],
                step["writes"],
                facets=self._columns(step),
                outputFacets={"outputStatistics": statistics},
            )
        ]

    def _columns(self, step: dict[str, Any]) -> dict[str, DatasetFacet]:
        fields = {
            name: column_lineage_dataset.Fields(
                [column_lineage_dataset.InputField(self._plan["warehouse"], step["reads"], origin)]
            )
            for name, origin in step["columns"].items()
        }
        return {
            "schema": schema_dataset.SchemaDatasetFacet([schema_dataset.SchemaDatasetFacetFields(n) for n in fields]),
            "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields),
        }


ENDED = {"fails": RunState.FAIL, "expectations": RunState.OTHER}


def _error(step: dict[str, Any]) -> dict[str, RunFacet]:
    if "fails" not in step:
        return {}
    return {"errorMessage": error_message_run.ErrorMessageRunFacet(step["fails"], programmingLanguage="python")}


def _assertions(step: dict[str, Any]) -> dict[str, InputDatasetFacet]:
    results = [data_quality_assertions_dataset.Assertion(**one) for one in step.get("expectations", [])]
    if not results:
        return {}
    return {"dataQualityAssertions": data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(results)}


if __name__ == "__main__":
    client = OpenLineageClient()
    for event in Executor(Path(sys.argv[1])).events():
        client.emit(event)
    client.close()
