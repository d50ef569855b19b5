"""The real doors with the real telemetry, on fakes, taken once through all that they log, count and measure."""

from __future__ import annotations

import base64
import gzip
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError

from adapter import backlog
from adapter.accept import accept
from adapter.datazone import DataZone
from adapter.doors.authorizer import Authorizer
from adapter.doors.backlog import BacklogDoor
from adapter.doors.http import HttpDoor
from adapter.doors.kinesis import KinesisDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Access, Cause, Code, Denial, FormatAssertion, Received, Rejected, RunEvent, Source
from adapter.reconcile import Seen
from adapter.reconcile_telemetry import ReconcileTelemetry
from adapter.secret import UnreadableError
from adapter.telemetry import Telemetry
from local.kpl import aggregate
from tests.fakes import FakeBacklog, FakeQuarantine, callers, run_event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter.producers import Producers

PRODUCER = "spark-retail"
_THROTTLED = ("ThrottlingException", 429)
_DENIED = ("AccessDeniedException", 403)


@dataclass
class Context:
    """Lambda's."""

    aws_request_id: str = "8476a536-e9f4-11e8-9739-2dfe598c3fcd"

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass
class Client:
    """A DataZone that says no, as often as it has something to say, and then takes an event."""

    refusals: list[tuple[str, int]] = field(default_factory=list)

    def post_lineage_event(self, **_: object) -> dict[str, str]:
        if not self.refusals:
            return {"id": "abc123def456gh"}
        code, status = self.refusals.pop()
        raise ClientError(
            {"Error": {"Code": code}, "ResponseMetadata": cast("Any", {"HTTPStatusCode": status})}, "PostLineageEvent"
        )


class Driven:
    """Everything behind a stack's doors."""

    def __init__(self) -> None:
        self.client = Client()
        self.quarantine, self.backlog, self.records = FakeQuarantine(), FakeBacklog(), Telemetry()
        datazone = DataZone(cast("Any", self.client), "dzd_local", 0.01, sleep=lambda _: None)
        self.ingest = Ingest(datazone, self.quarantine, self.records, FormatAssertion.WARN)
        self.lanes = Lanes(self.ingest, 2, 2.0)

    def post(self, body: bytes, path: str = "/lineage", namespaces: tuple[str, ...] = ("*",)) -> None:
        context = {"producer": PRODUCER, "namespaces": json.dumps(namespaces)}
        envelope = {
            "version": "1.0",
            "httpMethod": "POST",
            "path": path,
            "body": base64.b64encode(body).decode(),
            "isBase64Encoded": True,
            "requestContext": {"requestId": "Zx3kTgQhIAMEVxQ=", "authorizer": context},
        }
        HttpDoor(self.ingest, self.lanes, self.backlog, callers(Access.TOKENS))(envelope, Context())

    def stream(self, *data: bytes) -> None:
        records = [
            {
                "eventID": f"shardId-000000000003:{number}",
                "kinesis": {
                    "sequenceNumber": str(number),
                    "data": base64.b64encode(one).decode(),
                    "approximateArrivalTimestamp": time.time(),
                },
            }
            for number, one in enumerate(data)
        ]
        KinesisDoor(self.ingest, self.lanes)({"Records": records}, Context())

    def wait(self, received: Received) -> None:
        message = {
            "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d",
            "receiptHandle": "x",
            "body": backlog.message(received, None),
            "attributes": {"ApproximateReceiveCount": "2"},
        }
        BacklogDoor(self.ingest, self.lanes, self.backlog)({"Records": [message]}, Context())


def drive() -> None:
    """Have every metric and every field of the log written to standard output."""
    _over_http(Driven())
    driven = Driven()
    driven.stream(run_event(1), aggregate([("k", run_event(2)), ("k", gzip.compress(run_event(3)))]))
    driven.wait(Received(run_event(4), Source.HTTP, PRODUCER, time.time() - 90))
    driven.records.fault(ValueError())
    driven.records.flush()
    _let_in()
    _reconciled()


def _over_http(driven: Driven) -> None:
    driven.client.refusals = [_THROTTLED]
    driven.post(gzip.compress(run_event(eventTime="2026-11-29T10:00:00")))
    driven.post(run_event(job={"namespace": "retail"}))
    driven.post(
        b"[" + run_event(job={"namespace": "finance", "name": "ledger"}) + b"]", "/api/v1/lineage/batch", ("a",)
    )
    driven.client.refusals = [_DENIED]
    driven.post(run_event())
    driven.backlog = FakeBacklog(away=True)
    driven.quarantine.away = True
    driven.client.refusals = [_DENIED]
    driven.post(run_event())


class _Secret:
    """One that cannot be read."""

    def producers(self, fresh: float = 0.0) -> Producers:
        del fresh
        raise UnreadableError("ReadTimeoutError")


def _let_in() -> None:
    records = Telemetry()
    asked = {"version": "2.0", "requestContext": {"requestId": "Zx3kTgQhIAMEVxQ="}}
    token = "Bearer olz_00000001_" + "a" * 43
    Authorizer(cast("Any", _Secret()), records)(asked | {"headers": {"authorization": token}}, Context())
    records.denied(Denial.EXPIRED, producer=PRODUCER)
    records.admitted(PRODUCER, "00000001")
    records.flush()


def _reconciled() -> None:
    records = ReconcileTelemetry()
    records.begin(Context())
    event = accept(run_event())
    assert isinstance(event, RunEvent)
    kept = Rejected(Code.FAILED_IN_DATAZONE, "", (), event.job, "quarantine/x.event", "a" * 14)
    records.failed(Received(event.raw, Source.DATAZONE), event, kept)
    records.unanswered("a" * 14, Cause.THROTTLED)
    records.fault(ValueError())
    for complete in (True, False):
        records.passed(Seen(), complete=complete)


def lines(written: str) -> Iterator[dict[str, Any]]:
    """Give the lines of a log that are no metrics."""
    yield from (line for line in map(json.loads, written.splitlines()) if "_aws" not in line)
