"""What a person sees of the adapter: one log line an event and the metrics that alarms stand on.

Never an event's values beyond its run, job and type, and never a credential. docs/operate.md lists the fields of the
lines, and the metrics.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import TYPE_CHECKING, assert_never

from aws_lambda_powertools import Logger
from aws_lambda_powertools.shared.functions import get_tracer_id

from adapter.metrics import Metrics
from adapter.model import Cause, Code, Deferred, Delivered, Denial, Outcome, Received, Rejected, RunEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adapter.metrics import Labels
    from adapter.model import Source, Times

# ASCII only: half a surrogate pair or a line separator in a job's name must not cost or split its line.
_encode = json.JSONEncoder(check_circular=False, default=str, separators=(",", ":")).encode


class Telemetry:
    """Log lines and metrics of one function. Safe to share among threads."""

    def __init__(self) -> None:
        """Take service, namespace and log level from Powertools' own environment variables."""
        logger = Logger()
        self._least, self._service = logger.log_level, logger.service
        self._metrics = Metrics()
        self._invocation: dict[str, object] = {}

    def begin(self, context: object, gateway_request_id: str | None = None) -> None:
        """Put the request's ids, Lambda's and the gateway's, into all lines from here on.

        An instance is a container's, and Lambda gives a container one request at a time.
        """
        request_id = getattr(context, "aws_request_id", None)
        self._invocation = {"request_id": request_id, "gateway_request_id": gateway_request_id}

    def batch(self, door: Source, size: int, deaggregated: int = 0) -> None:
        """Measure how many records came at once; count the user records out of aggregates."""
        counted = [("Deaggregated", deaggregated)] if deaggregated else []
        self._metrics.add((("door", door.value),), counted, [("BatchSize", size)])

    def event(self, received: Received, event: RunEvent | None, outcome: Outcome, times: Times) -> None:
        """Log one line for `received`, count its outcome by door, reason and producer, and measure it."""
        fields: dict[str, object] = {
            "door": received.door.value,
            "bytes": len(received.raw),
            "packed_bytes": received.packed,
            "producer": received.producer,
            "waited_seconds": _waited(received),
            "judge_ms": _ms(times.judge),
            "datazone_ms": _ms(sum(call.seconds for call in outcome.calls)) if outcome.calls else None,
            "datazone_calls": len(outcome.calls) or None,
            "whole_ms": _ms(times.whole),
            **(received.ids or {}),
            **_identity(event),
            **_verdict(outcome),
        }
        level = logging.INFO if isinstance(outcome, Delivered) else logging.WARNING
        self._log(level, "event", fields)
        self._measure(received, event, outcome)

    def _measure(self, received: Received, event: RunEvent | None, outcome: Outcome) -> None:
        door: Labels = (("door", received.door.value),)
        producer: Labels = (("producer", received.producer),) if received.producer else ()
        measured: list[tuple[str, float]] = [("EventBytes", len(received.raw))]
        measured += [("DataZoneLatency", _ms(call.seconds)) for call in outcome.calls]
        if (waited := _waited(received)) is not None:
            measured.append(("DeferralAge", waited))
        counted = [(type(outcome).__name__, 1), *_troubles(outcome)]
        self._metrics.add((*door, *producer, *_reason(outcome)), counted, measured)
        for rule in {warning.rule for warning in event.warnings} if event else ():
            self._metrics.add((*door, ("rule", rule)), [("Warned", 1)])

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
        self._metrics.add((("reason", reason.value),), [("AuthorizerDenied", 1)])

    def unkept(self, received: Received) -> None:
        """Log and count an event that nothing durable took; its emitter has been told to send it again."""
        door = received.door.value
        self._log(logging.ERROR, "nothing durable took an event", {"door": door, "bytes": len(received.raw)})
        self._metrics.add((("door", door),), [("Unkept", 1)])

    def fault(self, error: Exception) -> None:
        """Log and count an exception: its kind and where; its message may hold values of the event and is left out."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self._log(logging.ERROR, "unexpected exception", {"exception": type(error).__name__, "where": where})
        self._metrics.add((), [("Fault", 1)])

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
            **self._invocation,
            **fields,
        }
        # In one piece, so that the lines of two threads do not mix.
        sys.stdout.write(_encode({name: value for name, value in line.items() if value is not None}) + "\n")

    def flush(self) -> None:
        """Write what was counted and measured since the last time; a door's last act in each invocation."""
        self._metrics.flush()


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def _waited(received: Received) -> int | None:
    """Say for how many seconds one from the backlog has waited since it came; None for any other."""
    return max(0, int(time.time() - received.received_at)) if received.waited else None


def _reason(outcome: Outcome) -> Labels:
    match outcome:
        case Delivered():
            return ()
        case Deferred(cause=cause):
            return (("cause", cause.value),)
        case Rejected(code=code):
            return (("code", code.value),)
        case _:
            assert_never(outcome)


def _troubles(outcome: Outcome) -> Iterator[tuple[str, int]]:
    if len(outcome.calls) > 1:
        yield "DataZoneRetries", len(outcome.calls) - 1
    if throttles := sum(call.cause is Cause.THROTTLED for call in outcome.calls):
        yield "DataZoneThrottles", throttles
    if isinstance(outcome, Rejected) and outcome.code is Code.NAMESPACE_NOT_ALLOWED:
        yield "NamespaceNotAllowed", 1


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
