"""Who may write, the whole way: the gateway, the authorizer it asks, the secret, the door, as an operator runs them.

A copy of the secret is believed for a minute, but whoever comes with an unknown token has it read again after five
seconds: that is how these tests see changes without waiting for so long. The tokens of most are issued before anybody
is asked for one, so that nobody has to wait for them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState

from adapter.doors.authorizer import NEWS_SECONDS
from adapter.doors.http import BATCH_PATH
from cli.producers import Secret
from local.resources import STACK
from tests.fakes import run_event
from tests.integration.running import Running, start, token

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = Path(sys.executable).parent / "lineage-adapter"
PRODUCERS = f"{STACK}-producers"
UNKNOWN = "olz_00000000_" + "x" * 43


@dataclass(frozen=True, slots=True)
class Tokens:
    """One of a producer with two patterns, issued by the command, and some with one."""

    retail: str
    python: str
    rotated: str
    revoked: str


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system that asks for tokens and whose gateway believes an answer for a second."""
    running = start(tmp_path_factory.mktemp("gated") / "terminal", "AuthorizerCacheSeconds=1", AUTH="on")
    yield running
    assert running.stop() == 0


@pytest.fixture(scope="module", autouse=True)
def tokens(gated: Running) -> Tokens:
    retail = issued(gated, "retail-spark", "--namespace", "retail", "--namespace", "retail-*")
    return Tokens(retail, *(secret(gated).issue(name, (name,)) for name in ("python", "rotated", "revoked")))


def secret(system: Running) -> Secret:
    """Give the producers' secret, as `lineage-adapter token` changes it."""
    return Secret(system.client("secretsmanager"), PRODUCERS)


def issued(system: Running, *arguments: str) -> str:
    """Give a token that `lineage-adapter token issue` prints."""
    where = ("--stack", STACK, "--endpoint-url", system.aws_url)
    credentials = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}
    return subprocess.run(  # noqa: S603 - our own command
        [COMMAND, "token", "issue", *arguments, *where],
        env={**os.environ, **credentials},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def post(system: Running, body: bytes, path: str = "/api/v1/lineage", /, bearer: str | None = None) -> tuple[int, Any]:
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    connection = HTTPConnection(urlsplit(system.url).netloc, timeout=35)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def of(namespace: str, run: int = 1) -> bytes:
    return run_event(run, job={"namespace": namespace, "name": "orders"})


@pytest.mark.parametrize("path", ["/api/v1/lineage", "/api/v1/lineage/", "/lineage", "/", "//api/v1/lineage/"])
def test_nobody_is_let_in_on_any_path_without_a_token(gated: Running, path: str) -> None:
    before = set(gated.delivered())
    assert post(gated, run_event(), path)[0] == 401
    assert post(gated, run_event(), path, bearer=UNKNOWN)[0] == 403
    assert set(gated.delivered()) == before


@pytest.mark.parametrize("bearer", ["", "x", "é" * 10, "a" * 60_000, "olz_", f"{UNKNOWN},{UNKNOWN}"])
def test_what_is_no_token_is_not_let_in(gated: Running, bearer: str) -> None:
    assert post(gated, run_event(), bearer=bearer)[0] == 403


def test_the_printed_token_may_write_to_everything(gated: Running) -> None:
    for number, path in enumerate(("/api/v1/lineage", "/api/v1/lineage/", "/")):
        status, body = post(gated, of(f"any {number}", number), path, bearer=token(gated))
        assert (status, body["status"]) == (200, "delivered")


def test_health_asks_nobody(gated: Running) -> None:
    assert gated.get("/health").status == 200


def test_a_producer_writes_to_its_namespaces_only_and_what_is_refused_is_kept_under_its_name(
    gated: Running, tokens: Tokens
) -> None:
    mine = tokens.retail
    assert post(gated, of("retail-eu", 11), bearer=mine)[0] == 200
    status, body = post(gated, of("finance", 12), bearer=mine)
    assert (status, body["code"]) == (403, "namespace_not_allowed")
    reason_key = body["quarantineKey"].removesuffix(".event") + ".reason.json"
    reason = json.loads(gated.s3.get_object(Bucket=gated.bucket, Key=reason_key)["Body"].read())
    assert (reason["producer"], reason["job_namespace"]) == ("retail-spark", "finance")
    batch = b"[%s,%s]" % (of("retail", 13), of("retail.sales", 14))
    status, body = post(gated, batch, BATCH_PATH, bearer=mine)
    assert (status, body["summary"]["successful"]) == (200, 1)
    assert body["failed_events"][0]["reason"].startswith("namespace_not_allowed")


def test_the_python_client_s_api_key_is_taken(gated: Running, tokens: Tokens) -> None:
    auth = {"type": "api_key", "apiKey": tokens.python}
    sender = OpenLineageClient(config={"transport": {"type": "http", "url": gated.url, "auth": auth}})
    before = set(gated.delivered())
    sender.emit(
        RunEvent(
            eventType=RunState.START,
            eventTime="2026-11-29T10:00:00Z",
            run=Run("01890000-0000-7000-8000-00000000abcd"),
            job=Job("python", "shown"),
            producer="https://example.com/retail",
        )
    )
    assert len(set(gated.delivered()) - before) == 1


def test_rotated_revoked_and_unreadable(gated: Running, tokens: Tokens) -> None:
    """In this order, since nobody is let in after the last."""
    old, gone = tokens.rotated, tokens.revoked
    assert {post(gated, b"[]", BATCH_PATH, bearer=one)[0] for one in (old, gone)} == {200}
    new = secret(gated).rotate("rotated", overlap=1)
    secret(gated).revoke("revoked", None)
    time.sleep(NEWS_SECONDS + 0.2)
    assert post(gated, of("rotated"), bearer=new)[0] == 200
    assert {post(gated, run_event(), bearer=one)[0] for one in (old, gone)} == {403}
    gated.client("secretsmanager").delete_secret(SecretId=PRODUCERS, ForceDeleteWithoutRecovery=True)
    time.sleep(NEWS_SECONDS + 0.2)
    assert post(gated, run_event(), bearer=UNKNOWN[:-1] + "y")[0] == 403
    assert post(gated, run_event(), bearer=new)[0] == 403
    assert "secret_unreadable" in gated.output()


def test_no_token_is_on_the_terminal_but_the_one_that_was_asked_for(gated: Running) -> None:
    shown = {word for word in gated.output().split() if word.startswith("olz_")}
    assert shown == {token(gated)}
