"""Writes events/envelopes: the sample events inside the Lambda events that carry them.

`python -m tools.envelopes`. Every id and time is fixed, so the files change only when the samples or this file do.

Shapes: Amazon API Gateway developer guide, "AWS Lambda proxy integrations for HTTP APIs", payload formats 1.0 and 2.0;
AWS Lambda developer guide, "Using Lambda to process records from Amazon Kinesis Data Streams".
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local import kpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Envelope = dict[str, Any]

EVENTS = Path(__file__).parent.parent / "events"

_ACCOUNT = "123456789012"
_REGION = "us-east-1"
_API = "a1b2c3d4e5"
_DOMAIN = f"{_API}.execute-api.{_REGION}.amazonaws.com"
_REQUEST = "Zx3kTgQhIAMEVxQ="
_STREAM = f"arn:aws:kinesis:{_REGION}:{_ACCOUNT}:stream/openlineage"
_EMITTER_IP = "192.0.2.10"  # RFC 5737: an address for documentation
_TIME = "29/Nov/2026:15:30:00 +0000"
_EPOCH_SECONDS = 1_795_966_200
_FIRST_SEQUENCE_NUMBER = 49675098128330451622957364803914578390428177912874598402

_PYTHON = "python-requests/2.34.2"
_GZIP = {"content-encoding": "gzip"}
_JAVA = "Apache-HttpClient/5.6.4 (Java/17.0.15)"
_LINEAGE = "/api/v1/lineage"

# What only IAM and Cognito would fill: null for a caller with a bearer token.
_UNKNOWN_IDENTITY = (
    "accessKey",
    "accountId",
    "caller",
    "cognitoAmr",
    "cognitoAuthenticationProvider",
    "cognitoAuthenticationType",
    "cognitoIdentityId",
    "cognitoIdentityPoolId",
    "principalOrgId",
    "user",
    "userArn",
)


def envelopes() -> dict[str, Envelope]:
    """Build every envelope, by the name of its file."""
    return {
        "http-v1.json": _http_v1(_LINEAGE, _sample("spark/complete"), _headers(_JAVA)),
        "http-v1-gzip.json": _http_v1(_LINEAGE, _gzip(_sample("executor/complete")), _headers(_PYTHON, _GZIP)),
        "http-v1-batch.json": _http_v1(f"{_LINEAGE}/batch", _batch(), _headers(_PYTHON)),
        "http-v2.json": _http_v2(_LINEAGE, _sample("airflow/start"), _headers(_PYTHON)),
        "kinesis.json": _kinesis(_plain_and_gzipped()),
        "kinesis-kpl.json": _kinesis(_aggregated()),
        "kinesis-poison.json": _kinesis(_poison()),
    }


def _batch() -> bytes:
    """Three events as their emitters wrote them; the second one violates the schema."""
    return b"[" + b", ".join(map(_sample, ("dbt/model-complete", "invalid/naive-time", "dbt/test-complete"))) + b"]"


def _plain_and_gzipped() -> list[tuple[str, bytes]]:
    """Give one event a record, as any producer without the KPL writes them; the third one violates the schema."""
    start, complete = _sample("spark/start"), _sample("spark/complete")
    naive, failed = _sample("invalid/naive-time"), _sample("executor/fail")
    return [_keyed(start), (_key(complete), _gzip(complete)), _keyed(naive), (_key(failed), _gzip(failed))]


def _aggregated() -> list[tuple[str, bytes]]:
    """Give what the Java client's Kinesis transport writes: an aggregate, then a record that stayed alone.

    The aggregate's third event is a DatasetEvent, which the transport sends as well.
    """
    together = map(_sample, ("spark/application-start", "spark/start", "invalid/dataset-event", "spark/running"))
    alone = _keyed(_sample("spark/complete"))
    return [(kpl.PARTITION_KEY, kpl.aggregate([_keyed(event) for event in together])), alone]


def _poison() -> list[tuple[str, bytes]]:
    """Give what holds no event at all, and one good event behind it that must not suffer."""
    event = _sample("executor/quality")
    damaged = bytearray(kpl.aggregate([_keyed(event), _keyed(event)]))
    damaged[-1] ^= 1  # its checksum's last bit
    torn = _gzip(event)[:100]
    not_json = _sample("invalid/truncated")
    return [(kpl.PARTITION_KEY, bytes(damaged)), ("torn", torn), ("text", not_json), _keyed(_sample("executor/fail"))]


def _sample(name: str) -> bytes:
    return (EVENTS / f"{name}.json").read_bytes()


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def _headers(user_agent: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
    # API Gateway gives header names in lower case.
    return {
        "accept-encoding": "gzip, deflate",
        "authorization": "Bearer sample-key-of-retail",
        "content-type": "application/json",
        "host": _DOMAIN,
        "user-agent": user_agent,
        "x-amzn-trace-id": f"Root=1-{_EPOCH_SECONDS:08x}-0123456789abcdef01234567",
        "x-forwarded-for": _EMITTER_IP,
        "x-forwarded-port": "443",
        "x-forwarded-proto": "https",
    } | dict(more or {})


def _http_v1(path: str, body: bytes, headers: dict[str, str]) -> Envelope:
    headers = {"content-length": str(len(body))} | headers
    return {
        "version": "1.0",
        "resource": path,
        "path": path,
        "httpMethod": "POST",
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": _context_v1(path, headers["user-agent"]),
        "pathParameters": None,
        "stageVariables": None,
        **_body(body, headers),
    }


def _context_v1(path: str, user_agent: str) -> Envelope:
    return {
        "accountId": _ACCOUNT,
        "apiId": _API,
        "authorizer": {"claims": None, "scopes": None},
        "domainName": _DOMAIN,
        "domainPrefix": _API,
        "extendedRequestId": _REQUEST,
        "httpMethod": "POST",
        "identity": dict.fromkeys(_UNKNOWN_IDENTITY) | {"sourceIp": _EMITTER_IP, "userAgent": user_agent},
        "path": path,
        "protocol": "HTTP/1.1",
        "requestId": _REQUEST,
        "requestTime": _TIME,
        "requestTimeEpoch": _EPOCH_SECONDS * 1000,
        "resourceId": f"POST {path}",
        "resourcePath": path,
        "stage": "$default",
    }


def _http_v2(path: str, body: bytes, headers: dict[str, str]) -> Envelope:
    headers = {"content-length": str(len(body))} | headers
    return {
        "version": "2.0",
        "routeKey": f"POST {path}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": _ACCOUNT,
            "apiId": _API,
            "domainName": _DOMAIN,
            "domainPrefix": _API,
            "http": {
                "method": "POST",
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": _EMITTER_IP,
                "userAgent": headers["user-agent"],
            },
            "requestId": _REQUEST,
            "routeKey": f"POST {path}",
            "stage": "$default",
            "time": _TIME,
            "timeEpoch": _EPOCH_SECONDS * 1000,
        },
        **_body(body, headers),
    }


def _body(body: bytes, headers: Mapping[str, str]) -> Envelope:
    if "content-encoding" in headers:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    return {"body": body.decode(), "isBase64Encoded": False}


def _keyed(event: bytes) -> tuple[str, bytes]:
    return _key(event), event


def _key(event: bytes) -> str:
    """Give the partition key of openlineage-java: the job of the root parent, else of the parent, else its own."""
    parsed = json.loads(event)
    if "dataset" in parsed:
        return "dataset:{namespace}/{name}".format_map(parsed["dataset"])
    parent = parsed["run"].get("facets", {}).get("parent", parsed)
    job = parent.get("root", parent)["job"]
    return "run:{namespace}/{name}".format_map(job)


def _kinesis(records: Sequence[tuple[str, bytes]]) -> Envelope:
    return {"Records": [_record(index, key, data) for index, (key, data) in enumerate(records)]}


def _record(index: int, partition_key: str, data: bytes) -> Envelope:
    sequence_number = str(_FIRST_SEQUENCE_NUMBER + index)
    return {
        "kinesis": {
            "kinesisSchemaVersion": "1.0",
            "partitionKey": partition_key,
            "sequenceNumber": sequence_number,
            "data": base64.b64encode(data).decode(),
            "approximateArrivalTimestamp": _EPOCH_SECONDS + index / 8,
        },
        "eventSource": "aws:kinesis",
        "eventVersion": "1.0",
        "eventID": f"shardId-000000000000:{sequence_number}",
        "eventName": "aws:kinesis:record",
        "invokeIdentityArn": f"arn:aws:iam::{_ACCOUNT}:role/lineage-adapter-kinesis",
        "awsRegion": _REGION,
        "eventSourceARN": _STREAM,
    }


def main() -> None:
    """Write every envelope into its file."""
    folder = EVENTS / "envelopes"
    folder.mkdir(exist_ok=True)
    for name, envelope in envelopes().items():
        (folder / name).write_text(json.dumps(envelope, indent=2) + "\n")


if __name__ == "__main__":
    main()
