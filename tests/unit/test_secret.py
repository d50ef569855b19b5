"""How long a copy of the secret is believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

from adapter import producers
from adapter.producers import Producer
from adapter.secret import FRESH_SECONDS, STALE_SECONDS, Secret, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Mapping

ONE = {"one": Producer("one", ("*",))}
TWO = {"two": Producer("two", ("*",))}
AWAY = ReadTimeoutError(endpoint_url="https://secretsmanager")


def refusal(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "x"}}, "GetSecretValue")


@dataclass
class Manager:
    """A Secrets Manager whose secret changes and fails as a test says, and its clock."""

    value: str = producers.dump(ONE)
    error: BotoCoreError | ClientError | None = None
    now: float = 1_000_000.0
    asked: list[Mapping[str, object]] = field(default_factory=list)

    def get_secret_value(self, **asked: object) -> dict[str, str]:
        self.asked.append(asked)
        if self.error:
            raise self.error
        return {"SecretString": self.value}

    def secret(self) -> Secret:
        return Secret(cast("Any", self), "arn", lambda: self.now)


def test_the_secret_is_asked_for_once_a_minute() -> None:
    manager = Manager()
    secret = manager.secret()
    assert secret.producers() == ONE
    manager.value = producers.dump(TWO)
    manager.now += FRESH_SECONDS - 1
    assert secret.producers() == ONE
    manager.now += 1
    assert secret.producers() == TWO
    assert manager.asked == [{"SecretId": "arn", "VersionStage": "AWSCURRENT"}] * 2


def test_whoever_asks_for_news_gets_a_copy_no_older_than_that() -> None:
    manager = Manager()
    secret = manager.secret()
    secret.producers()
    manager.now += 5
    secret.producers(5.0)
    assert len(manager.asked) == 2


def test_a_clock_that_was_put_back_makes_no_copy_younger() -> None:
    manager = Manager()
    secret = manager.secret()
    secret.producers()
    manager.now -= 3600
    secret.producers()
    assert len(manager.asked) == 2


@pytest.mark.parametrize("error", [AWAY, refusal("ThrottlingException"), refusal("InternalServiceError")])
def test_a_blip_costs_no_lineage_and_an_outage_lets_nobody_in_for_long(error: BotoCoreError | ClientError) -> None:
    manager = Manager()
    secret = manager.secret()
    secret.producers()
    manager.error = error
    manager.now += STALE_SECONDS - 1
    assert secret.producers() == ONE
    manager.now += 1
    with pytest.raises(UnreadableError):
        secret.producers()
    manager.now -= 600
    with pytest.raises(UnreadableError):
        secret.producers()


def test_a_stale_copy_does_not_look_fresh() -> None:
    """Each request asks again, so that the end of the outage is seen at once."""
    manager = Manager()
    secret = manager.secret()
    secret.producers()
    manager.error = AWAY
    manager.now += FRESH_SECONDS
    secret.producers()
    manager.error, manager.value = None, producers.dump(TWO)
    assert secret.producers() == TWO


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "InvalidRequestException", "AccessDeniedException"])
def test_a_secret_that_was_taken_away_lets_nobody_in_from_then_on(code: str) -> None:
    manager = Manager()
    secret = manager.secret()
    secret.producers()
    manager.error = refusal(code)
    manager.now += FRESH_SECONDS
    with pytest.raises(UnreadableError, match=code):
        secret.producers()


def test_a_malformed_secret_lets_nobody_in_who_is_not_remembered() -> None:
    manager = Manager(value='{"producers": {"one": {"namespaces": ["*"]}}}')
    with pytest.raises(UnreadableError, match="malformed"):
        manager.secret().producers()


def test_a_secret_without_a_text_is_malformed() -> None:
    manager = Manager(value="")
    with pytest.raises(UnreadableError, match="malformed"):
        manager.secret().producers()
