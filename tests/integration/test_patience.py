"""An AWS that takes a connection and then says nothing keeps a door no longer than the door's patience."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ReadTimeoutError

from adapter import aws, settings
from adapter.aws import Patience
from tests.artefact import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE = Patience(connect=0.2, read=0.3)

CALLS: dict[str, Callable[[Any], object]] = {
    "datazone": lambda client: client.post_lineage_event(domainIdentifier="dzd_1", event=b"{}", clientToken="token"),
    "s3": lambda client: client.put_object(Bucket="bucket", Key="key", Body=b"{}"),
    "secretsmanager": lambda client: client.get_secret_value(SecretId="secret"),
    "sqs": lambda client: client.send_message(QueueUrl="http://sqs/1/queue", MessageBody="{}"),
}


@pytest.fixture
def _silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a listener in AWS's place that nobody ever looks at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        yield


@pytest.mark.usefixtures("_silence")
@pytest.mark.parametrize("service", CALLS)
def test_one_attempt_takes_no_longer_than_it_may(service: str) -> None:
    """The sums of seconds in adapter/bootstrap.py, and with them the promise of an answer, stand on this."""
    client = getattr(aws, service)(settings.read(ENVIRONMENT), PATIENCE)
    began = time.monotonic()
    with pytest.raises(ReadTimeoutError):
        CALLS[service](client)
    # A busy machine adds to it; a library's own second of waiting is more than that.
    assert time.monotonic() - began < PATIENCE.attempt + 0.5
