"""What a person sees of the adapter: one log line an event and the counts that alarms stand on.

Never an event's values beyond its run, job and type, and never a credential. Metrics are CloudWatch's embedded metric
format, written as log lines.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections import Counter
from threading import Lock
from typing import TYPE_CHECKING, Any, assert_never

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from aws_lambda_powertools.shared.functions import get_tracer_id

from adapter.model import Code, Deferred, Delivered, Denial, Outcome, Received, Rejected, RunEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

# A metric's name, its door, and what it is told apart by besides, if anything: "cause" or "code", and which.
type _Series = tuple[str, str, str, str]

# ASCII only: half a surrogate pair or a line separator in a job's name must not cost or split its line.
_encode = json.JSONEncoder(check_circular=False, default=str, separators=(",", ":")).encode


class Telemetry:
    """Log lines and metrics of one function. Safe to share among threads."""

    def __init__(self) -> None:
        """Take service, namespace and log level from Powertools' own environment variables."""
        logger = Logger()
        self._least, self._service = logger.log_level, logger.service
        self._counts: Counter[_Series] = Counter()
        self._documents: dict[_Series, dict[str, Any]] = {}
        self._lock = Lock()

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome) -> None:
        """Log one line for `received` and count its outcome by door, and by code or cause where it has one."""
        door = received.door.value
        fields: dict[str, object] = {"door": door, "bytes": len(received.raw)}
        fields |= {"producer": received.producer} if received.producer else {}
        fields |= _identity(event) | _verdict(outcome)
        match outcome:
            case Delivered():
                self._log(logging.INFO, "event", fields)
                self._count("Delivered", door)
            case Deferred(cause=cause):
                self._log(logging.WARNING, "event", fields)
                self._count("Deferred", door, "cause", cause.value)
            case Rejected(code=code):
                self._log(logging.WARNING, "event", fields)
                self._count("Rejected", door, "code", code.value)
                if code is Code.NAMESPACE_NOT_ALLOWED and received.producer:
                    self._count("NamespaceNotAllowed", door, "producer", received.producer)
            case _:
                assert_never(outcome)
        for rule in {warning.rule for warning in event.warnings} if event else ():
            self._count("Warned", door, "rule", rule)

    def admitted(self, producer: str, token_id: str) -> None:
        """Log that a token of `producer` has been let in; its id says which, and whether an old one is still in use."""
        self._log(logging.INFO, "admitted", {"producer": producer, "token_id": token_id})

    def denied(self, reason: Denial, cause: str | None = None, producer: str | None = None) -> None:
        """Log and count somebody who is not let in.

        `cause` is why the secret cannot be read, `producer` whose token it is that is no longer good.
        """
        more = {"cause": cause, "producer": producer}
        said = {name: value for name, value in more.items() if value is not None}
        self._log(logging.WARNING, "denied", {"reason": reason.value} | said)
        self._count("AuthorizerDenied", "", "reason", reason.value)

    def unkept(self, received: Received) -> None:
        """Log and count an event that nothing durable took; its emitter has been told to send it again."""
        door = received.door.value
        self._log(logging.ERROR, "nothing durable took an event", {"door": door, "bytes": len(received.raw)})
        self._count("Unkept", door)

    def fault(self, error: Exception) -> None:
        """Log and count an exception: its kind and where; its message may hold values of the event and is left out."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self._log(logging.ERROR, "unexpected exception", {"exception": type(error).__name__, "where": where})
        self._count("Fault", "")

    def _log(self, level: int, message: str, fields: Mapping[str, object]) -> None:
        """Write a line as Powertools would: its logger says whether; writing by itself is a fifth of its cost."""
        if level < self._least:
            return
        now = time.time()
        line = {
            "level": logging.getLevelName(level),
            "message": message,
            "timestamp": f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(now))},{int(now % 1 * 1000):03}+0000",
            "service": self._service,
            "xray_trace_id": get_tracer_id(),
            **fields,
        }
        # In one piece, so that the lines of two threads do not mix.
        sys.stdout.write(_encode({name: value for name, value in line.items() if value is not None}) + "\n")

    def _count(self, name: str, door: str, dimension: str = "", value: str = "") -> None:
        with self._lock:
            self._counts[name, door, dimension, value] += 1

    def flush(self) -> None:
        """Write what was counted since the last time."""
        now = int(time.time() * 1000)
        for series, times in self._counts.items():
            document = self._documents.get(series) or self._documents.setdefault(series, _document(*series))
            document["_aws"]["Timestamp"] = now
            document[series[0]] = [float(times)]
            sys.stdout.write(_encode(document) + "\n")
        self._counts.clear()
        sys.stdout.flush()


def _document(name: str, door: str, dimension: str, value: str) -> dict[str, Any]:
    """Let Powertools make a metric's document, once: from one time to the next only moment and number change."""
    metrics = EphemeralMetrics()
    if door:
        metrics.add_dimension("door", door)
    if dimension:
        # Counted twice over: by door for alarms, by door and reason for whoever asks why.
        by_door = {"door": door} if door else {}
        metrics.add_dimensions(service=str(metrics.service), **by_door, **{dimension: value})
    metrics.add_metric(name, MetricUnit.Count, 0)
    return dict(metrics.serialize_metric_set())


def _identity(event: RunEvent | None) -> dict[str, object]:
    if event is None:
        return {}
    warned = {"warnings": [{"path": one.path, "rule": one.rule} for one in event.warnings]} if event.warnings else {}
    return warned | {
        "run_id": event.run_id,
        "job_namespace": event.job.namespace,
        "job_name": event.job.name,
        "event_type": event.event_type,
        "client_token": event.client_token,
    }


def _verdict(outcome: Outcome) -> dict[str, object]:
    match outcome:
        case Delivered(lineage_event_id=lineage_event_id):
            return {"outcome": "delivered", "lineage_event_id": lineage_event_id}
        case Deferred(cause=cause):
            return {"outcome": "deferred", "cause": cause.value}
        case Rejected(code=code, errors=errors, job=job, quarantine_key=key):
            return {
                "outcome": "rejected",
                "code": code.value,
                "errors": [{"path": error.path, "rule": error.rule} for error in errors],
                "job_namespace": job.namespace if job else None,
                "job_name": job.name if job else None,
                "quarantine_key": key,
            }
        case _:
            assert_never(outcome)
