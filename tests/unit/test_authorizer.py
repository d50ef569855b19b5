"""The gateway's question in each of its shapes, and whom the answer lets in."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast

import pytest

from adapter import producers
from adapter.doors.authorizer import NEWS_SECONDS, Authorizer
from adapter.model import Denial
from adapter.producers import Producer, Producers, Token
from adapter.secret import Secret
from adapter.telemetry import Telemetry
from tests.fakes import FakeTelemetry
from tests.unit.test_secret import AWAY, Manager, refusal

if TYPE_CHECKING:
    from botocore.exceptions import BotoCoreError, ClientError

ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/prod/POST/api/v1/lineage"
GOOD = "olz_00000001_" + "a" * 43
OTHER = "olz_00000002_" + "b" * 43
OVER = "olz_00000003_" + "c" * 43


def _token(presented: str, expires: int | None = None) -> Token:
    return Token(presented[4:12], sha256(presented.encode()).hexdigest(), 1, expires)


SPARK = Producer("spark", ("retail", "s3://*"), (_token(OTHER, int(time.time()) + 600), _token(GOOD), _token(OVER, 10)))


@dataclass
class Gate:
    """An authorizer in front of a secret."""

    manager: Manager = field(default_factory=lambda: Manager(producers.dump({"spark": SPARK})))
    told: FakeTelemetry = field(default_factory=FakeTelemetry)

    def __post_init__(self) -> None:
        self.authorizer = Authorizer(self.manager.secret(), self.told)

    def ask(self, authorization: str | None) -> dict[str, Any]:
        headers = {} if authorization is None else {"authorization": authorization}
        event = {"version": "2.0", "type": "REQUEST", "headers": headers, "identitySource": [authorization]}
        return self.authorizer(event, None)

    def put(self, known: Producers) -> None:
        self.manager.value = producers.dump(known)


@pytest.mark.parametrize("token", [GOOD, OTHER])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
def test_a_live_token_lets_in_its_producer_with_its_namespaces(token: str, scheme: str) -> None:
    gate = Gate()
    assert gate.ask(f"{scheme} {token}") == {
        "isAuthorized": True,
        "context": {"producer": "spark", "namespaces": '["retail", "s3://*"]'},
    }
    assert gate.told.let_in == [("spark", token[4:12])]
    assert gate.told.flushed == 1


@pytest.mark.parametrize(
    ("authorization", "reason"),
    [
        (None, Denial.MISSING),
        ("", Denial.MISSING),
        ("Bearer", Denial.NOT_A_TOKEN),
        ("Bearer ", Denial.NOT_A_TOKEN),
        (GOOD, Denial.NOT_A_TOKEN),
        (f"Basic {GOOD}", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD} ", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD}\n", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD},Bearer {GOOD}", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD}a", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD.upper()}", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD[:-1]}é", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD[:-1]}\ud800", Denial.NOT_A_TOKEN),
        (f"Bearer {'a' * 1_000_000}", Denial.NOT_A_TOKEN),
        (f"Bearer {GOOD[:-1]}b", Denial.UNKNOWN_TOKEN),
        (f"Bearer {sha256(GOOD.encode()).hexdigest()}", Denial.NOT_A_TOKEN),
        (f"Bearer {OVER}", Denial.EXPIRED),
    ],
)
def test_whoever_has_no_live_token_is_kept_out_for_a_named_reason(authorization: str | None, reason: Denial) -> None:
    gate = Gate()
    assert gate.ask(authorization) == {"isAuthorized": False}
    assert [denied[0] for denied in gate.told.kept_out] == [reason]
    assert gate.told.let_in == []


def test_an_unconfigured_deployment_admits_nobody() -> None:
    gate = Gate(Manager('{"producers": {}}'))
    assert gate.ask(f"Bearer {GOOD}") == {"isAuthorized": False}


@pytest.mark.parametrize(
    ("error", "cause"), [(AWAY, "ReadTimeoutError"), (refusal("AccessDeniedException"), "AccessDeniedException")]
)
def test_nobody_is_let_in_when_the_secret_cannot_be_read(error: BotoCoreError | ClientError, cause: str) -> None:
    gate = Gate()
    gate.manager.error = error
    assert gate.ask(f"Bearer {GOOD}") == {"isAuthorized": False}
    assert gate.told.kept_out == [(Denial.SECRET_UNREADABLE, cause, None)]


def test_a_fault_of_ours_lets_nobody_in_and_is_told_of() -> None:
    """Raised, it would be logged with its message and answered with a 500."""
    gate = Gate()
    gate.manager.value = cast("Any", None)
    assert gate.ask(f"Bearer {GOOD}") == {"isAuthorized": False}
    assert [type(fault) for fault in gate.told.faults] == [TypeError]
    assert gate.told.kept_out == [(Denial.UNEXPECTED, None, None)]


def test_a_revoked_token_is_out_within_a_minute() -> None:
    gate = Gate()
    assert gate.ask(f"Bearer {GOOD}")["isAuthorized"]
    gate.put({})
    gate.manager.now += 59
    assert gate.ask(f"Bearer {GOOD}")["isAuthorized"]
    gate.manager.now += 1
    assert not gate.ask(f"Bearer {GOOD}")["isAuthorized"]


def test_a_token_just_issued_is_let_in_before_the_copy_is_a_minute_old() -> None:
    gate = Gate(Manager('{"producers": {}}'))
    assert not gate.ask(f"Bearer {GOOD}")["isAuthorized"]
    gate.put({"spark": SPARK})
    gate.manager.now += NEWS_SECONDS
    assert gate.ask(f"Bearer {GOOD}")["isAuthorized"]


def test_whoever_guesses_does_not_have_the_secret_read_for_each_guess() -> None:
    gate = Gate()
    for _ in range(1000):
        assert not gate.ask(f"Bearer olz_00000001_{secrets.token_urlsafe(32)}")["isAuthorized"]
    assert len(gate.manager.asked) == 1


@pytest.mark.parametrize(
    "event",
    [
        {"type": "TOKEN", "methodArn": ARN, "authorizationToken": f"Bearer {GOOD}"},
        {"type": "REQUEST", "methodArn": ARN, "headers": {"Authorization": f"Bearer {GOOD}"}},
        {"type": "REQUEST", "methodArn": ARN, "headers": {"AUTHORIZATION": f"Bearer {GOOD}"}, "version": "1.0"},
    ],
)
def test_a_rest_api_is_given_a_policy_for_its_whole_stage(event: dict[str, Any]) -> None:
    """It keeps the policy by the token and holds it against the next path too."""
    answer = Gate().authorizer(event, None)
    assert answer["principalId"] == "spark"
    assert answer["context"] == {"producer": "spark", "namespaces": '["retail", "s3://*"]'}
    assert answer["policyDocument"] == {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Action": "execute-api:Invoke",
                "Effect": "Allow",
                "Resource": "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3/prod/*",
            }
        ],
    }


@pytest.mark.parametrize(
    "event",
    [
        {"type": "TOKEN", "methodArn": ARN, "authorizationToken": "Bearer x"},
        {"type": "TOKEN", "methodArn": ARN},
        {"type": "REQUEST", "methodArn": ARN, "headers": None},
    ],
)
def test_a_rest_api_is_told_to_deny_whoever_is_unknown(event: dict[str, Any]) -> None:
    answer = Gate().authorizer(event, None)
    assert [one["Effect"] for one in answer["policyDocument"]["Statement"]] == ["Deny"]
    assert "context" not in answer


@pytest.mark.parametrize("event", [{}, {"version": "2.0"}, {"version": "2.0", "headers": {"authorization": 7}}])
def test_an_event_of_another_shape_lets_nobody_in(event: dict[str, Any]) -> None:
    assert "Allow" not in json.dumps(answer := Gate().authorizer(event, None))
    assert answer.get("isAuthorized") in (None, False)


def test_neither_log_nor_metric_holds_a_token_or_its_hash(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "LineageAdapter")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "adapter")
    manager = Manager(producers.dump({"spark": SPARK}))
    authorizer = Authorizer(Secret(cast("Any", manager), "arn", lambda: manager.now), Telemetry())
    for token in (GOOD, OVER, GOOD[:-1] + "b", "s3cret"):
        authorizer({"version": "2.0", "headers": {"authorization": f"Bearer {token}"}}, None)
    said = capsys.readouterr()
    lines = [json.loads(line) for line in said.out.splitlines()]
    assert [line["reason"] for line in lines if line.get("message") == "denied"] == [
        "expired",
        "unknown_token",
        "not_a_token",
    ]
    counted = {line["reason"]: line["AuthorizerDenied"] for line in lines if "_aws" in line}
    assert counted == {"expired": [1.0], "unknown_token": [1.0], "not_a_token": [1.0]}
    for secret in (GOOD, OVER, "s3cret", *(token.sha256 for token in SPARK.tokens)):
        assert secret not in said.out + said.err
