"""What was refused is kept with its bytes and its reason, once."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from adapter.model import Cause, Code, Deferred, Job, Received, Rejected, Source, Violation
from adapter.quarantine import Quarantine

RAW = b'{"secret": "SECRET"}\xff'
DIGEST = sha256(RAW).hexdigest()
RECEIVED = Received(RAW, Source.KINESIS, "spark-prod", 1_764_374_399.0)
REJECTED = Rejected(
    Code.SCHEMA_VIOLATION, "violates", (Violation("/eventTime", "format", "must be"),), Job("retail", "orders")
)


def _client() -> Any:  # noqa: ANN401 - stubbed
    return boto3.client("s3", "eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")


class Puts:
    """An S3 client that notes what is put, and fails from the `failing`th put on."""

    def __init__(self, failing: int = 99) -> None:
        self.objects: dict[str, bytes] = {}
        self.failing = failing

    def keep(self, received: Received = RECEIVED, rejected: Rejected = REJECTED) -> Rejected | Deferred:
        client = _client()
        with Stubber(client) as stub:
            for number in range(3):
                if number >= self.failing:
                    stub.add_client_error("put_object", "SlowDown")
                else:
                    stub.add_response("put_object", {})
            client.meta.events.register("before-parameter-build.s3.PutObject", self._note)
            return Quarantine(client, "bucket", 3).keep(received, rejected)

    def _note(self, params: dict[str, Any], **_: object) -> None:
        assert params["Bucket"] == "bucket"
        self.objects[params["Key"]] = params["Body"]


def test_bytes_reason_and_day_are_kept() -> None:
    puts = Puts()
    kept = puts.keep()
    assert isinstance(kept, Rejected)
    assert kept.quarantine_key == f"quarantine/schema_violation/{DIGEST}.event"
    assert puts.objects[kept.quarantine_key] == RAW
    assert puts.objects[f"days/2025-11-28/schema_violation/{DIGEST}"] == b""
    reason = json.loads(puts.objects[f"quarantine/schema_violation/{DIGEST}.reason.json"])
    assert reason == {
        "code": "schema_violation",
        "detail": "violates",
        "errors": [{"path": "/eventTime", "rule": "format", "message": "must be"}],
        "source": "kinesis",
        "producer": "spark-prod",
        "job_namespace": "retail",
        "job_name": "orders",
        "lineage_event_id": None,
        "received_at": "2025-11-28T23:59:59+00:00",
        "bytes": len(RAW),
        "replay": f"lineage-adapter replay s3://bucket/{kept.quarantine_key} --url URL",
    }
    assert len(puts.objects) == 3


def test_the_same_bytes_for_the_same_reason_are_one_object() -> None:
    puts = Puts()
    puts.keep()
    puts.keep(Received(RAW, Source.HTTP, received_at=RECEIVED.received_at + 1))
    assert sum(key.endswith(".event") for key in puts.objects) == 1
    puts.keep(RECEIVED, Rejected(Code.NOT_UTF8, ""))
    assert sum(key.endswith(".event") for key in puts.objects) == 2


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_what_is_not_kept_whole_has_to_wait(failing: int) -> None:
    assert Puts(failing).keep() == Deferred(Cause.QUARANTINE_UNREACHABLE)


def test_a_job_need_not_be_known() -> None:
    puts = Puts()
    puts.keep(rejected=Rejected(Code.NOT_JSON, ""))
    reason = json.loads(puts.objects[f"quarantine/not_json/{DIGEST}.reason.json"])
    assert reason["job_namespace"] is None
