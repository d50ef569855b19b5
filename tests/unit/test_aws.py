"""The AWS clients are told everything explicitly: botocore's defaults have changed between versions."""

from __future__ import annotations

from typing import Any

import pytest

from adapter import aws
from adapter.aws import Patience
from adapter.model import Access, FormatAssertion
from adapter.settings import Settings

PATIENCE = Patience(connect=0.5, read=1.5)
ROLE = "arn:aws:iam::123456789012:role/Writer"


def _settings(role: str | None = None) -> Settings:
    places = ("https://sqs/x/y", "bucket")
    return Settings("dzd_x", "eu-central-1", role, FormatAssertion.STRICT, 7, *places, Access.TOKENS, "secret", "sub")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")


def test_datazone_is_asked_in_the_domain_s_region() -> None:
    client = aws.datazone(_settings(), PATIENCE)
    assert client.meta.region_name == "eu-central-1"
    assert client.meta.endpoint_url == "https://datazone.eu-central-1.api.aws"


@pytest.mark.parametrize("make", [aws.sqs, aws.s3, aws.secretsmanager])
def test_the_durable_places_are_asked_in_the_function_s_region(make: Any) -> None:  # noqa: ANN401 - three client types
    assert make(_settings(), PATIENCE).meta.region_name == "us-east-1"


@pytest.mark.parametrize("make", [aws.datazone, aws.sqs, aws.s3])
def test_timeouts_attempts_and_connections_are_set(make: Any) -> None:  # noqa: ANN401 - three client types
    config = make(_settings(), PATIENCE).meta.config
    assert (config.connect_timeout, config.read_timeout, config.max_pool_connections) == (0.5, 1.5, 7)
    assert config.retries == {"mode": "standard", "total_max_attempts": 1}


def test_one_attempt_takes_no_longer_than_its_two_timeouts() -> None:
    assert PATIENCE.attempt == 2.0


def test_a_role_to_assume_signs_the_calls() -> None:
    """The client's credentials are the role's, not fetched before they are needed."""
    credentials = aws.assumed(ROLE, "eu-central-1").get_credentials()
    assert credentials
    assert credentials.method == "assume-role"
    client = aws.datazone(_settings(ROLE), PATIENCE)
    assert client._request_signer._credentials.method == "assume-role"  # type: ignore[attr-defined]  # noqa: SLF001 - nowhere else to see it
