"""What a person sees of reconciliation: a log line for each failure and each pass, and the counts alarms stand on.

Counts by job namespace and emitter are in the log lines: as dimensions of a metric they would be without bound.
"""

from __future__ import annotations

import json
import traceback
from functools import partial
from typing import TYPE_CHECKING

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from adapter.emitter import emitter

if TYPE_CHECKING:
    from collections import Counter

    from adapter.model import Cause, Received, Rejected, RunEvent
    from adapter.reconcile import Seen

# As many namespaces, and emitters, as a line names; the rest is one number.
NAMED = 10
OTHER = "(other)"


class ReconcileTelemetry:
    """Log lines and metrics of the reconciling function."""

    def __init__(self) -> None:
        """Take service, namespace and log level from Powertools' own environment variables."""
        # ASCII only, as in adapter/telemetry.py.
        self._logger = Logger(json_serializer=partial(json.dumps, default=str, separators=(",", ":")))

    def begin(self, context: object) -> None:
        """Put Lambda's id of the request into all lines from here on."""
        self._logger.append_keys(request_id=getattr(context, "aws_request_id", None))

    def failed(self, received: Received, event: RunEvent | None, rejected: Rejected) -> None:
        """Log and count one failure. Its token is that of the line that says by whom and when it was delivered."""
        job = rejected.job
        fields = {
            "door": received.door.value,
            "outcome": "failed",
            "code": rejected.code.value,
            "lineage_event_id": rejected.lineage_event_id,
            "run_id": event.run_id if event else None,
            "job_namespace": job.namespace if job else None,
            "job_name": job.name if job else None,
            "event_type": event.event_type if event else None,
            "emitter": emitter(received.raw),
            "client_token": event.client_token if event else None,
            "bytes": len(received.raw),
            "quarantine_key": rejected.quarantine_key,
        }
        self._logger.error("failed in datazone", extra=fields)
        _count("DataZoneFailed")

    def unanswered(self, lineage_event_id: str | None, cause: Cause) -> None:
        """Log what could not be asked or kept; the next pass does it."""
        fields = {"cause": cause.value, "lineage_event_id": lineage_event_id}
        self._logger.warning("reconciliation is left something", extra=fields)

    def fault(self, error: Exception) -> None:
        """Log and count an exception: its kind and where; its message may hold values of an event and is left out."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self._logger.error("unexpected exception", extra={"exception": type(error).__name__, "where": where})
        _count("Fault")

    def passed(self, seen: Seen, *, complete: bool) -> None:
        """Log one line for a pass, and count it; what is unfinished is a level and not a sum."""
        fields = {
            "complete": complete,
            "failed": seen.failed.total(),
            "failed_by_namespace": most(seen.failed),
            "failed_by_emitter": most(seen.emitters),
            "unfinished": seen.unfinished.total(),
            "unfinished_by_namespace": most(seen.unfinished),
            "left": seen.left,
        }
        (self._logger.info if complete else self._logger.warning)("reconciled", extra=fields)
        _count("ReconcileComplete" if complete else "ReconcileIncomplete")
        if complete:
            _count("DataZoneUnfinished", seen.unfinished.total())


def most(counts: Counter[str]) -> dict[str, int]:
    """Give the NAMED largest counts, and the sum of the others under OTHER."""
    named = dict(counts.most_common(NAMED))
    rest = counts.total() - sum(named.values())
    return named | ({OTHER: rest} if rest else {})


def _count(name: str, times: int = 1) -> None:
    metrics = EphemeralMetrics()
    metrics.add_metric(name, MetricUnit.Count, times)
    metrics.flush_metrics()
