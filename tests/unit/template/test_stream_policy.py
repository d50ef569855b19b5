"""Who may write to the stream and who may read it, as IAM would judge its resource policy."""

from __future__ import annotations

from typing import Any

import pytest

from local import template as local
from local.template import Physical, Template
from tests.unit.template.deployed import TEMPLATE, broken, given
from tools.translate import PSEUDO_PARAMETERS

OURS = PSEUDO_PARAMETERS["AWS::AccountId"]
NAMED, NAMED_TOO, STRANGER = "111111111111", "222222222222", "999999999999"
ORGANIZATION, ANOTHER = "o-a1b2c3d4e5", "o-zzzzzzzzzz"
KEY = "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012"

READ = {"kinesis:GetRecords", "kinesis:GetShardIterator"}
# What the KPL calls, and with it openlineage-java's kinesis transport.
WRITE = {"kinesis:DescribeStreamSummary", "kinesis:ListShards", "kinesis:PutRecord", "kinesis:PutRecords"}

ACCOUNTS = {"StreamWriterAccounts": f"{NAMED},{NAMED_TOO}"}
MEMBERS = {"StreamWriterOrganization": ORGANIZATION}


def statements(**parameters: str) -> list[dict[str, Any]]:
    values = {"DomainId": "dzd_1", "EnableStream": "true", "KmsKeyArn": KEY, **parameters}
    read = local.of(TEMPLATE, values, PSEUDO_PARAMETERS)
    stream = {"Stream": Physical("stream", {"Arn": "arn:stream"})}
    policy = TEMPLATE["Resources"]["StreamPolicy"]["Properties"]["ResourcePolicy"]
    resolved: list[dict[str, Any]] = Template(read.document, read.parameters, stream).resolve(policy, "")["Statement"]
    assert {statement["Resource"] for statement in resolved} == {"arn:stream"}
    return resolved


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - IAM takes one or several
    return value if isinstance(value, list) else [value]


def applies(statement: dict[str, Any], action: str, keys: dict[str, str]) -> bool:
    principal = statement["Principal"]
    named = principal == "*" or keys["aws:PrincipalAccount"] in listed(principal["AWS"])
    operators = statement.get("Condition", {}).items()
    return (
        named and action in statement["Action"] and all(holds(operator, tests, keys) for operator, tests in operators)
    )


def holds(operator: str, tests: dict[str, Any], keys: dict[str, str]) -> bool:
    """As IAM has it: a key that is missing equals nothing, and so does not equal anything."""
    equal = [keys.get(key) in listed(expected) for key, expected in tests.items()]
    return not any(equal) if operator == "StringNotEquals" else all(equal)


def judged(policy: list[dict[str, Any]], action: str, account: str, organization: str = "", tls: str = "true") -> str:
    """Say what the policy says: Deny before Allow, and None where it has nothing to say."""
    keys = {"aws:PrincipalAccount": account, "aws:SecureTransport": tls}
    keys |= {"aws:PrincipalOrgID": organization} if organization else {}
    effects = {statement["Effect"] for statement in policy if applies(statement, action, keys)}
    return min(effects, key=["Deny", "Allow"].index, default="None")


@pytest.mark.parametrize("parameters", [ACCOUNTS, MEMBERS, ACCOUNTS | MEMBERS])
def test_the_streams_own_account_is_never_shut_out(parameters: dict[str, str]) -> None:
    """Also one without an organization, and whoever reads for the function."""
    policy = statements(**parameters)
    assert {judged(policy, action, OURS) for action in READ | WRITE} == {"None"}


@pytest.mark.parametrize("parameters", [ACCOUNTS, MEMBERS, ACCOUNTS | MEMBERS])
def test_a_stranger_is_denied_everything(parameters: dict[str, str]) -> None:
    """And not just not allowed: a policy of his that allows it changes nothing."""
    policy = statements(**parameters)
    for organization in ("", ANOTHER):
        assert {judged(policy, action, STRANGER, organization) for action in READ | WRITE} == {"Deny"}


def test_named_accounts_and_the_organizations_write_and_read_nothing() -> None:
    policy = statements(**ACCOUNTS, **MEMBERS)
    for account, organization in ((NAMED, ""), (NAMED_TOO, ANOTHER), (STRANGER, ORGANIZATION)):
        assert {judged(policy, action, account, organization) for action in WRITE} == {"Allow"}
        assert {judged(policy, action, account, organization) for action in READ} == {"Deny"}


def test_there_is_a_policy_where_somebody_is_named_and_none_otherwise() -> None:
    """Without one no other account gets in: Kinesis needs both its own policy and the writer's to say so."""
    assert "StreamPolicy" not in given(EnableStream="true")
    assert "StreamPolicy" not in given(**ACCOUNTS)
    for parameters in (ACCOUNTS, MEMBERS):
        assert "StreamPolicy" in given(EnableStream="true", **parameters)


def test_one_parameter_alone_lets_in_whom_it_names() -> None:
    assert judged(statements(**ACCOUNTS), "kinesis:PutRecords", NAMED) == "Allow"
    assert judged(statements(**ACCOUNTS), "kinesis:PutRecords", STRANGER, ORGANIZATION) == "Deny"
    assert judged(statements(**MEMBERS), "kinesis:PutRecords", STRANGER, ORGANIZATION) == "Allow"
    assert judged(statements(**MEMBERS), "kinesis:PutRecords", NAMED) == "Deny"


def test_nobody_reaches_the_stream_without_tls() -> None:
    policy = statements(**ACCOUNTS, **MEMBERS)
    for account in (OURS, NAMED, STRANGER):
        assert {judged(policy, action, account, ORGANIZATION, "false") for action in READ | WRITE} == {"Deny"}


@pytest.mark.parametrize("parameters", [ACCOUNTS, MEMBERS])
def test_writers_of_other_accounts_need_a_stream_and_a_key_that_can_be_shared(parameters: dict[str, str]) -> None:
    """AWS's own key for Kinesis cannot be used from another account."""
    assert broken(EnableStream="true", KmsKeyArn=KEY, **parameters) == []
    assert broken(EnableStream="true", **parameters) == ["WritersHaveTheKey"]
    assert broken(KmsKeyArn=KEY, **parameters) == ["WritersHaveTheKey"]
