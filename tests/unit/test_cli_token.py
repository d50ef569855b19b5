"""`lineage-adapter token` against a Secrets Manager within this process."""

from __future__ import annotations

import json
import re
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from adapter import producers
from adapter.producers import TOKEN, Producer, Token, holder
from cli.main import group
from cli.producers import MAX_BYTES, ProducersError, Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_secretsmanager import SecretsManagerClient

    from adapter.producers import Producers

NAME = "producers"
DAY = 24 * 60 * 60


ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def service() -> Iterator[SecretsManagerClient]:
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for variable, value in ENVIRONMENT.items():
            patch.setenv(variable, value)
        patch.delenv("AWS_ENDPOINT_URL", raising=False)
        yield boto3.client("secretsmanager")


@pytest.fixture(autouse=True)
def manager(service: SecretsManagerClient) -> Iterator[SecretsManagerClient]:
    service.create_secret(Name=NAME, SecretString='{"producers": {}}')
    yield service
    service.delete_secret(SecretId=NAME, ForceDeleteWithoutRecovery=True)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(group, ["token", *arguments, "--secret", NAME])


def done(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def text(client: SecretsManagerClient) -> str:
    return str(client.get_secret_value(SecretId=NAME, VersionStage="AWSCURRENT")["SecretString"])


def known(client: SecretsManagerClient) -> Producers:
    return producers.load(text(client))


def test_a_token_is_printed_alone_and_once_and_kept_as_its_hash(manager: SecretsManagerClient) -> None:
    result = run("issue", "spark", "--namespace", "retail", "--namespace", "retail-*")
    (token,) = result.stdout.splitlines()
    assert TOKEN.fullmatch(token)
    assert token not in result.stderr
    assert "spark may write to: retail retail-*" in result.stderr
    found = holder(known(manager), token)
    assert found is not None
    assert found[0].namespaces == ("retail", "retail-*")
    assert (found[1].token_id, found[1].expires) == (token[4:12], None)
    assert token not in text(manager)
    assert token[13:] not in text(manager)
    assert token not in done("list") + done("list", "--json")


def test_no_two_tokens_are_alike_and_all_have_256_random_bits() -> None:
    tokens = [done("issue", "spark", *(("--namespace", "*") if number == 0 else ())) for number in range(5)]
    assert len({token[13:] for token in tokens}) == 5
    assert {len(token[13:]) * 6 // 8 for token in tokens} == {32}


def test_a_token_can_be_good_for_a_while(manager: SecretsManagerClient) -> None:
    done("issue", "spark", "--namespace", "*", "--expires", "90d")
    (token,) = known(manager)["spark"].tokens
    assert token.expires == token.issued + 90 * DAY
    assert abs(token.issued - time.time()) < 60


@pytest.mark.parametrize("duration", ["", "90", "d", "-1d", "1.5h", "1w", "1d1d", "٣d"])
def test_what_is_no_duration_is_a_wrong_usage(duration: str) -> None:
    result = run("issue", "spark", "--namespace", "*", "--expires", duration)
    assert result.exit_code == 2
    assert "90d, 24h" in result.stderr


def test_rotation_lets_the_old_tokens_run_out(manager: SecretsManagerClient) -> None:
    soon = done("issue", "spark", "--namespace", "retail", "--expires", "60s")
    old = done("issue", "spark")
    new = done("rotate", "spark", "--overlap", "2h", "--expires", "90d")
    by_id = {token.token_id: token for token in known(manager)["spark"].tokens}
    assert by_id.keys() == {soon[4:12], old[4:12], new[4:12]}
    assert by_id[soon[4:12]].expires == by_id[soon[4:12]].issued + 60
    assert by_id[old[4:12]].expires == by_id[new[4:12]].issued + 7200
    assert by_id[new[4:12]].expires == by_id[new[4:12]].issued + 90 * DAY
    assert known(manager)["spark"].namespaces == ("retail",)


def test_one_token_or_the_whole_producer_is_revoked(manager: SecretsManagerClient) -> None:
    first, second = done("issue", "spark", "--namespace", "*"), done("issue", "spark")
    done("revoke", "spark", "--token", first[4:12])
    assert holder(known(manager), first) is None
    assert holder(known(manager), second) is not None
    result = run("revoke", "spark")
    assert "two minutes" in result.stderr
    assert known(manager) == {}


def test_what_a_producer_may_write_to_is_changed_and_its_tokens_are_not(manager: SecretsManagerClient) -> None:
    done("issue", "spark", "--namespace", "a")
    tokens = known(manager)["spark"].tokens
    done("allow", "spark", "--namespace", "b", "--namespace", "c")
    assert known(manager)["spark"] == Producer("spark", ("b", "c"), tokens)


def test_a_producer_that_comes_with_a_jwt_has_no_token(manager: SecretsManagerClient) -> None:
    done("allow", "auth0|1a2b@clients", "--namespace", "retail")
    assert known(manager) == {"auth0|1a2b@clients": Producer("auth0|1a2b@clients", ("retail",))}
    assert re.search(r"auth0\|1a2b@clients +- +- +- +retail$", done("list"), re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("issue", "spark"), "--namespace"),
        (("issue", "dbt", "--namespace", "*"), "token allow"),
        (("issue", "a b", "--namespace", "*"), "name"),
        (("issue", "x" * 129, "--namespace", "*"), "name"),
        (("issue", "spark", "--namespace", ""), "namespaces"),
        (("issue", "spark", "--namespace", "x" * 4100), "namespaces"),
        (("allow", "spark"), "--namespace"),
        (("rotate", "spark"), "not known"),
        (("revoke", "spark"), "not known"),
        (("revoke", "dbt", "--token", "00000000"), "no token 00000000"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(
    manager: SecretsManagerClient, arguments: tuple[str, ...], message: str
) -> None:
    done("issue", "dbt", "--namespace", "*")
    before = text(manager)
    result = run(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert result.stdout == ""
    assert text(manager) == before


class Meddling:
    """A client before whose first change somebody else makes one."""

    def __init__(self, client: SecretsManagerClient, times: int) -> None:
        self._client = client
        self._times = times

    def __getattr__(self, name: str) -> object:
        return getattr(self._client, name)

    def put_secret_value(self, **asked: Any) -> object:  # noqa: ANN401 - as the client has it
        if self._times:
            self._times -= 1
            Secret(self._client, NAME).allow(f"other-{self._times}", ("*",))
        return self._client.put_secret_value(**asked)


def test_two_operators_lose_none_of_each_other_s_changes(manager: SecretsManagerClient) -> None:
    """Whoever is second makes the change anew, on top of the first's."""
    token = Secret(Meddling(manager, 3), NAME).issue("mine", ("*",))  # type: ignore[arg-type]  # a client but for that
    assert set(known(manager)) == {"mine", "other-0", "other-1", "other-2"}
    assert holder(known(manager), token) is not None
    assert len(known(manager)["mine"].tokens) == 1


def test_a_secret_that_never_rests_is_given_up_on(manager: SecretsManagerClient) -> None:
    with pytest.raises(ProducersError, match="try again"):
        Secret(Meddling(manager, 1000), NAME).issue("mine", ("*",))  # type: ignore[arg-type]  # a client but for that
    assert "mine" not in known(manager)


def _crowd(count: int) -> str:
    tokens = tuple(Token(f"{number:08x}", sha256(b"%d" % number).hexdigest(), 1) for number in range(count))
    return producers.dump({"crowd": Producer("crowd", ("*",), tokens)})


EACH = len(_crowd(2)) - len(_crowd(1))


def test_it_is_said_when_the_secret_is_nearly_full(manager: SecretsManagerClient) -> None:
    manager.update_secret(SecretId=NAME, SecretString=_crowd(int(0.85 * MAX_BYTES / EACH)))
    assert f"of {MAX_BYTES:,} bytes" in run("issue", "crowd").stderr


def test_a_full_secret_takes_no_more(manager: SecretsManagerClient) -> None:
    manager.update_secret(SecretId=NAME, SecretString=_crowd(MAX_BYTES // EACH))
    before = text(manager)
    full = run("issue", "crowd")
    assert (full.exit_code, full.stdout) == (1, "")
    assert "larger than 65,536 bytes" in full.stderr
    assert text(manager) == before


def test_a_token_long_over_is_forgotten_and_one_just_over_is_not(manager: SecretsManagerClient) -> None:
    now = int(time.time())
    digest = sha256(b"x").hexdigest()
    tokens = (Token("0000000a", digest, 1, now - 40 * DAY), Token("0000000b", digest, 1, now - DAY))
    manager.update_secret(SecretId=NAME, SecretString=producers.dump({"spark": Producer("spark", ("*",), tokens)}))
    assert "(over)" in done("list")
    new = done("issue", "spark")
    assert [token.token_id for token in known(manager)["spark"].tokens] == ["0000000b", new[4:12]]


def test_a_secret_broken_by_hand_is_not_written_over(manager: SecretsManagerClient) -> None:
    manager.update_secret(SecretId=NAME, SecretString='{"producers": {"spark": {"namespaces": ["*"]}}}')
    result = run("issue", "dbt", "--namespace", "*")
    assert result.exit_code == 1
    assert "by hand" in result.stderr
    assert "dbt" not in text(manager)


def test_without_stack_or_secret_it_is_asked_for() -> None:
    result = CliRunner().invoke(group, ["token", "list"])
    assert result.exit_code == 2
    assert "--stack" in result.stderr


def test_a_secret_that_is_not_there_is_said_so() -> None:
    result = CliRunner().invoke(group, ["token", "list", "--secret", "nobody"])
    assert result.exit_code == 2
    assert "no such secret" in result.stderr


def test_the_list_is_there_for_machines_too() -> None:
    done("issue", "spark", "--namespace", "retail", "--expires", "1h")
    (line,) = done("list", "--json").splitlines()
    listed = json.loads(line)
    assert (listed["producer"], listed["namespaces"]) == ("spark", ["retail"])
    assert set(listed["tokens"][0]) == {"id", "issued", "expires"}
