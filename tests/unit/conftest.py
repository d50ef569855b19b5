"""Unit tests open no socket and see nothing of the machine's own AWS configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pytest_socket import disable_socket, enable_socket

if TYPE_CHECKING:
    from collections.abc import Iterator

# Without credentials botocore asks the network for some, as soon as a client is made.
AWS = {
    "AWS_ACCESS_KEY_ID": "unit",
    "AWS_SECRET_ACCESS_KEY": "unit",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable, value in AWS.items():
        monkeypatch.setenv(variable, value)
    disable_socket()
    yield
    enable_socket()
