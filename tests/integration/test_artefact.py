"""The artefact as Lambda would run it, over a socket: one event in, one call of DataZone out."""

from __future__ import annotations

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tests.artefact import ENVIRONMENT, ROOT, assemble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EVENT = (ROOT / "events" / "executor" / "complete.json").read_bytes()
ROLE = "arn:aws:iam::210987654321:role/lineage"

# Run where nothing but the artefact can be imported; the door's log goes to stdout before the answer.
PROBE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from adapter.handlers.http import handler
event = {"httpMethod": "POST", "path": "/api/v1/lineage", "headers": {}, "body": sys.stdin.read()}
print(json.dumps(handler(event, None)))
"""

ASSUMED = """
<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASSUMED</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>token</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>
"""


class Aws(HTTPServer):
    """STS, which gives the role ASSUMED's credentials, and DataZone, which takes everything."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.calls: list[tuple[str, str, bytes]] = []


class Answers(BaseHTTPRequestHandler):
    server: Aws

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append((self.path, self.headers["Authorization"], body))
        answer = ASSUMED if self.path == "/" else json.dumps({"id": "abcdefghij1234", "domainId": "dzd_1"})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        pass


@pytest.fixture
def aws() -> Iterator[Aws]:
    with Aws() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_artefact_delivers_an_event_under_the_role_to_assume(aws: Aws, tmp_path: Path) -> None:
    """What was cut from the libraries is missed neither by the call of STS nor by that of DataZone."""
    environment = ENVIRONMENT | {
        "DOMAIN_ROLE_ARN": ROLE,
        "ACCESS": "open",
        "AWS_ACCESS_KEY_ID": "OWN",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{aws.server_port}",
        "POWERTOOLS_METRICS_NAMESPACE": "LineageAdapter",
    }
    probe = subprocess.run(  # noqa: S603 - this interpreter, on the text above
        [sys.executable, "-S", "-c", PROBE, str(assemble(tmp_path / "artefact"))],
        env=environment,
        input=EVENT,
        capture_output=True,
        check=False,
    )
    assert probe.stderr == b""
    assert json.loads(probe.stdout.splitlines()[-1])["statusCode"] == 200
    (_, own, _), (path, assumed, body) = aws.calls
    assert "Credential=OWN/" in own
    assert "Credential=ASSUMED/" in assumed
    assert (path, body) == ("/v2/domains/dzd_1/lineage/events", EVENT)
