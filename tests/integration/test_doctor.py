"""`lineage-adapter doctor` against the local system: well, and with each thing broken in turn, it names that thing."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from click.testing import CliRunner, Result

from adapter.breaker import FAILURES
from adapter.found import Found, Position
from cli import aws
from cli.main import group
from cli.producers import Secret
from local.resources import STACK
from tests.fakes import run_event
from tests.integration.running import Running, start, token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module", autouse=True)
def _operator() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(variable, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


def doctor(system: Running, *arguments: str) -> Result:
    return CliRunner().invoke(group, ["doctor", "--endpoint-url", system.aws_url, *arguments])


def states(result: Result) -> dict[str, str]:
    """Give how everything is, by its name."""
    return {one["name"]: one["state"] for one in json.loads(result.stdout)["checks"]}


def test_a_system_that_is_well_is_found_so_and_its_canary_arrives(system: Running) -> None:
    result = doctor(system, "--stack", STACK, "--json")
    found: dict[str, Any] = json.loads(result.stdout)
    assert result.exit_code == 0, result.stdout
    # The adapter itself is open here, its alarms tell nobody, and reconciliation comes in five minutes.
    assert set(states(result).values()) == {"ok", "warning", "skipped"}
    assert {name for name, state in states(result).items() if state == "warning"} <= {"alarm topic", "reconciliation"}
    (said,) = [one["said"] for one in found["checks"] if one["name"] == "canary"]
    assert "SUCCESS" in said
    assert "byte for byte" in said
    assert any(b"lineage-adapter.doctor" in raw for raw in system.delivered().values())
    assert all(system.url in one["text"] for one in found["emitters"])


def test_an_address_alone_is_enough_for_what_emitters_meet(system: Running) -> None:
    result = doctor(system, "--url", system.url, "--no-canary")
    assert result.exit_code == 0, result.stdout
    assert "warning        access" in result.stdout
    assert result.stdout.endswith("Nothing is broken (5 ok, 1 warning, 3 skipped)\n")
    assert "producers" not in result.stdout
    assert f"export OPENLINEAGE_URL={system.url}" in result.stdout


# ---- Broken, one thing after the other, in a system that asks for tokens --------------------------------------------


@dataclass(slots=True)
class Gated:
    """A system of our own to break, tokens for all and for one namespace, and how all was when last looked at."""

    system: Running
    api_key: Path
    elsewhere: Path
    states: dict[str, str]

    def look(self, *arguments: str, api_key: Path | None = None) -> Result:
        key = ("--api-key-file", str(api_key or self.api_key))
        return doctor(self.system, "--stack", STACK, "--json", "--no-emitters", *key, *arguments)

    def changed(self, now: Result) -> dict[str, str]:
        """Give what is otherwise than it was."""
        found = states(now)
        assert found.keys() == self.states.keys(), now.stdout
        return {name: state for name, state in found.items() if state != self.states[name]}

    @contextmanager
    def fault(self, **fault: object) -> Iterator[None]:
        self.system.faults("PUT", **fault)
        yield
        self.system.faults("DELETE")

    def output(self, name: str) -> str:
        return aws.output(STACK, name, self.system.aws_url)


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gated]:
    folder = tmp_path_factory.mktemp("gated")
    running = start(folder / "terminal", "EnableStream=false", AUTH="on", QUEUE_SPEED="100")
    (folder / "token").write_text(token(running))
    Found(running.s3, running.bucket).save(Position(time.time() - 900, time.time()))
    secret = Secret(running.client("secretsmanager"), f"{STACK}-producers")
    (folder / "elsewhere").write_text(secret.issue("elsewhere", ("retail",)))
    gated = Gated(running, folder / "token", folder / "elsewhere", {})
    gated.states = states(gated.look("--no-canary"))
    assert set(gated.states.values()) == {"ok", "warning", "skipped"}
    yield gated
    assert running.stop() == 0


def dead_letter(gated: Gated) -> None:
    gated.system.sqs.send_message(QueueUrl=gated.output("DeadLetterUrl"), MessageBody="{}")


def alarm_fires(gated: Gated) -> None:
    gated.system.client("cloudwatch").set_alarm_state(
        AlarmName=f"{STACK}-UnkeptAlarm", StateValue="ALARM", StateReason="a test"
    )


def secret_is_gone(gated: Gated) -> None:
    gated.system.client("secretsmanager").delete_secret(SecretId=f"{STACK}-producers", ForceDeleteWithoutRecovery=True)


def queue_is_gone(gated: Gated) -> None:
    gated.system.sqs.delete_queue(QueueUrl=gated.output("BacklogUrl"))


def bucket_is_gone(gated: Gated) -> None:
    everything = gated.system.s3.list_object_versions(Bucket=gated.system.bucket).get("Versions", [])
    for one in everything:
        gated.system.s3.delete_object(Bucket=gated.system.bucket, Key=one["Key"], VersionId=one["VersionId"])
    gated.system.s3.delete_bucket(Bucket=gated.system.bucket)


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ({"domain_missing": True}, {"domain": "FAILED"}),
        ({"service": "lambda", "status": 403}, {"functions": "not looked at", "event sources": "not looked at"}),
    ],
)
def test_a_service_that_fails_is_named_and_one_that_denies_is_not_called_broken(
    gated: Gated, fault: dict[str, Any], found: dict[str, str]
) -> None:
    with gated.fault(**fault):
        now = gated.look("--no-canary")
    assert gated.changed(now) == found
    assert now.exit_code == (1 if "FAILED" in found.values() else 2)


@pytest.mark.parametrize("service", ["sts", "cloudformation"])
def test_where_nothing_can_be_looked_up_that_is_said_and_nothing_else(gated: Gated, service: str) -> None:
    with gated.fault(service=service, status=403, code="AccessDenied"):
        now = gated.look("--no-canary")
    assert now.exit_code == 2
    assert f"needs {service}:" in now.stdout
    assert "canary" not in states(now)


def test_a_token_that_is_none_and_one_for_elsewhere_are_explained(gated: Gated, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("olz_00000000_" + "x" * 43)
    found = gated.look(api_key=wrong)
    assert gated.changed(found) == {"token": "FAILED"}
    assert wrong.read_text() not in found.stdout
    found = gated.look(api_key=gated.elsewhere)
    assert gated.changed(found) == {"canary": "FAILED"}
    assert "--namespace" in found.stdout


def test_a_stack_that_is_nowhere_and_no_credentials_leave_nothing_to_look_at(
    system: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An address is looked at all the same."""
    nowhere = doctor(system, "--stack", "nowhere", "--url", system.url, "--no-canary", "--json")
    assert (states(nowhere)["stack"], states(nowhere)["access"], nowhere.exit_code) == ("not looked at", "warning", 2)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(variable)
    # It has the credentials of the first time it was asked.
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    without = doctor(system, "--url", system.url, "--no-canary", "--json")
    assert (states(without)["credentials"], without.exit_code) == ("skipped", 0)
    assert doctor(system, "--stack", STACK, "--json").exit_code == 2


def test_without_a_token_nothing_is_tried_with_one(gated: Gated) -> None:
    result = doctor(gated.system, "--stack", STACK, "--json")
    assert (states(result)["token"], states(result)["canary"]) == ("not looked at", "skipped")
    assert result.exit_code == 2
    assert "apiKey: TOKEN" in result.stdout


def test_a_canary_that_datazone_cannot_process_has_failed(gated: Gated) -> None:
    with gated.fault(processing_fails=1.0):
        assert states(gated.look())["canary"] == "FAILED"


def test_a_canary_that_has_to_wait_says_why_and_is_followed_through_the_backlog(gated: Gated) -> None:
    """The HTTP function does not ask again at once when DataZone is back; the backlog's does."""
    with gated.fault(status=402):
        for _ in range(FAILURES - 1):
            bearer = f"Bearer {gated.api_key.read_text()}"
            assert gated.system.post(run_event(), authorization=bearer).status == 202
        found = gated.look("--wait", "1")
    assert (states(found)["domain"], states(found)["canary"]) == ("FAILED", "FAILED")
    assert "it was deferred (202); deferred for" in found.stdout
    arrived = gated.look()
    assert states(arrived)["canary"] == "warning"
    assert "by way of the backlog" in arrived.stdout


@pytest.mark.parametrize(
    ("breaks", "found"),
    [
        (dead_letter, {"dead letters": "FAILED"}),
        (alarm_fires, {"alarms": "FAILED"}),
        (queue_is_gone, {"backlog": "FAILED"}),
        (secret_is_gone, {"producers": "FAILED"}),
        (bucket_is_gone, {"quarantine": "FAILED", "reconciliation": "FAILED"}),
    ],
)
def test_what_is_broken_is_named_and_nothing_else(
    gated: Gated, breaks: Callable[[Gated], None], found: dict[str, str]
) -> None:
    """One after the other, and none is mended."""
    breaks(gated)
    now = gated.look("--no-canary")
    assert gated.changed(now) == found, now.stdout
    gated.states = states(now)
