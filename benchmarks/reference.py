"""The dozen lines that the adapter replaces: what everything here is measured against.

It validates nothing, caps nothing, handles no error and takes one event after the other, with boto3 as it comes.
"""

from __future__ import annotations

import base64
import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from collections.abc import Mapping

client = boto3.client("datazone")


def post(body: str | bytes) -> str:
    """Post one event; return DataZone's id for it."""
    token = sha256(json.dumps(json.loads(body), sort_keys=True).encode()).hexdigest()
    return client.post_lineage_event(domainIdentifier=os.environ["DOMAIN_ID"], event=body, clientToken=token)["id"]


def http(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Behind API Gateway."""
    del context
    return {"statusCode": 200, "body": json.dumps({"id": post(event["body"])})}


def kinesis(event: Mapping[str, Any], context: object) -> None:
    """Behind a stream."""
    del context
    for record in event["Records"]:
        post(base64.b64decode(record["kinesis"]["data"]))
