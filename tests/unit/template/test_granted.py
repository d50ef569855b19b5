"""Each function may do what it does, and nothing else."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from adapter.model import Code, Received, Rejected, Source
from adapter.quarantine import Quarantine
from tests.unit.template.deployed import DEPLOYED, FUNCTIONS, JWT, KEPT, get_att, given, of_type, role_of, strings

OWN_LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
OWN_STREAM = {
    "kinesis:DescribeStream",
    "kinesis:DescribeStreamSummary",
    "kinesis:GetRecords",
    "kinesis:GetShardIterator",
    "kinesis:ListShards",
}
# AWS Lambda developer guide, "Retain discarded batch records for a Kinesis Data Streams event source".
FAILURES = {"s3:PutObject", "s3:ListBucket"}
# AWS Lambda developer guide, "Using Lambda with Amazon SQS"; the first is the function's own.
OWN_BACKLOG = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
}

# Granted to all, where a parameter asks for what needs them.
OPTIONAL = [
    {"Fn::If": [condition, {"Ref": policy}, {"Ref": "AWS::NoValue"}]}
    for condition, policy in (("KeyGiven", "KeyPolicy"), ("InVpc", "NetworkPolicy"))
]


@pytest.mark.parametrize(
    ("function", "actions"),
    [
        ("HttpFunction", OWN_LOGS | {"sqs:SendMessage"}),
        ("KinesisFunction", OWN_LOGS | OWN_STREAM | FAILURES),
        ("BacklogFunction", OWN_LOGS | OWN_BACKLOG),
        ("AuthorizerFunction", OWN_LOGS | {"secretsmanager:GetSecretValue"}),
        ("ReconcileFunction", OWN_LOGS | {"s3:GetObject", "s3:PutObject", "s3:ListBucket"}),
    ],
)
def test_each_role_grants_lambda_what_the_function_does_and_nothing_else(function: str, actions: set[str]) -> None:
    role = role_of(function)
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}
    domain = "DomainReadPolicy" if function == "ReconcileFunction" else "DomainPolicy"
    shared = [] if function == "AuthorizerFunction" else [{"Ref": domain}, {"Ref": "QuarantinePolicy"}]
    archive = {"Fn::If": ["Archives", {"Ref": "ArchivePolicy"}, {"Ref": "AWS::NoValue"}]}
    archives = [archive] if shared and function != "ReconcileFunction" else []
    assert role["ManagedPolicyArns"] == [*shared, *OPTIONAL, *archives]
    statements = [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]
    assert {action for statement in statements for action in statement["Action"]} == actions


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_reaches_its_own_log_group_stream_and_queue(function: str) -> None:
    group = DEPLOYED[function]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
    own: dict[str, object] = {"logs": get_att(group), "stream": get_att("Stream"), "backlog": get_att("Backlog")}
    own["producers"] = {"Ref": "Producers"}
    for policy in role_of(function)["Policies"]:
        if policy["PolicyName"] not in {"failures", "found"}:
            (statement,) = policy["PolicyDocument"]["Statement"]
            assert statement["Resource"] == own[policy["PolicyName"]]


def test_lambda_writes_what_it_gives_up_on_where_it_always_does_and_nowhere_else() -> None:
    (policy,) = (policy for policy in role_of("KinesisFunction")["Policies"] if policy["PolicyName"] == "failures")
    granted = {tuple(one["Action"]): one["Resource"] for one in policy["PolicyDocument"]["Statement"]}
    assert granted == {
        ("s3:PutObject",): {"Fn::Sub": "${Quarantine.Arn}/aws/lambda/*"},
        ("s3:ListBucket",): get_att("Quarantine"),
    }


def test_the_secret_is_read_by_whoever_judges_with_it_and_written_by_nobody() -> None:
    """By the authorizer for tokens; by the HTTP function for JWTs, which say nothing of namespaces."""
    read = {"Effect": "Allow", "Action": ["secretsmanager:GetSecretValue"], "Resource": {"Ref": "Producers"}}
    statements = {
        (access, name): one
        for access in ("tokens", "jwt", "open")
        for name, resource in given(**(JWT | {"Access": access})).items()
        for policy in (resource["Properties"], *resource["Properties"].get("Policies", ()))
        for one in policy.get("PolicyDocument", {}).get("Statement", ())
        if "secretsmanager" in str(one)
    }
    assert statements == {("tokens", "AuthorizerRole"): read, ("jwt", "HttpProducersPolicy"): read}
    assert DEPLOYED["HttpProducersPolicy"]["Properties"]["Roles"] == [{"Ref": "HttpRole"}]


class Keys:
    """An S3 that notes the keys it is given."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def put_object(self, *, Key: str, **_: object) -> None:  # noqa: N803 - S3's own name
        self.keys.append(Key)


def test_every_function_may_put_what_the_quarantine_puts_and_no_more() -> None:
    (statement,) = of_type("AWS::IAM::ManagedPolicy")["QuarantinePolicy"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Allow", "s3:PutObject")
    granted = {resource["Fn::Sub"].removeprefix("${Quarantine.Arn}/") for resource in statement["Resource"]}
    bucket = Keys()
    Quarantine(cast("Any", bucket), "bucket", 3).keep(Received(b"", Source.HTTP), Rejected(Code.NOT_JSON, ""))
    assert granted == {f"{key.partition('/')[0]}/*" for key in bucket.keys}


@pytest.mark.parametrize(
    ("policy", "actions"),
    [
        ("DomainPolicy", "datazone:PostLineageEvent"),
        ("DomainReadPolicy", ["datazone:GetLineageEvent", "datazone:ListLineageEvents"]),
    ],
)
def test_the_domain_is_reached_directly_or_under_the_one_role(policy: str, actions: object) -> None:
    (statement,) = of_type("AWS::IAM::ManagedPolicy")[policy]["PolicyDocument"]["Statement"]
    condition, under_the_role, directly = statement["Fn::If"]
    assert condition == "AssumesRole"
    assert under_the_role == {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": {"Ref": "DomainRoleArn"}}
    assert directly["Action"] == actions
    condition, given, default = directly["Resource"]["Fn::If"]
    assert (condition, given) == ("ResourceGiven", {"Ref": "DomainResource"})
    assert default["Fn::Sub"][0] == "arn:${AWS::Partition}:datazone:${Region}:${AWS::AccountId}:domain/${DomainId}"


def test_nothing_is_granted_by_a_wildcard_but_the_end_of_a_key() -> None:
    """Whoever needs one writes it into DomainResource, where it is seen. A key ends on what is made from its event.

    For Lambda's own calls to EC2 there is no narrower resource; test_network holds that no function can make them.
    """
    without_network = {one: two for one, two in of_type("AWS::IAM::ManagedPolicy").items() if one != "NetworkPolicy"}
    policies = [
        policy["PolicyDocument"] for role in of_type("AWS::IAM::Role").values() for policy in role["Policies"]
    ] + [policy["PolicyDocument"] for policy in without_network.values()]
    assert len(policies) == 16
    wild = [text for text in strings(policies) if "*" in text]
    assert [text for text in wild if not re.fullmatch(r"\$\{(Quarantine|Archive)\.Arn\}/[a-z/]+/\*", text)] == []


def test_queues_and_bucket_let_nobody_in_by_their_own_policies() -> None:
    """They only deny; who may come in is said by the roles."""
    documents = [one["PolicyDocument"] for kind in KEPT for one in of_type(kind).values() if "PolicyDocument" in one]
    assert len(documents) == 4
    assert {statement["Effect"] for document in documents for statement in document["Statement"]} == {"Deny"}


def test_log_lines_go_where_they_are_kept_for_as_long_as_is_asked() -> None:
    """Each function and the API write to a group of this template, and each group has its retention."""
    groups = of_type("AWS::Logs::LogGroup")
    used = {DEPLOYED[name]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for name in FUNCTIONS}
    assert used | {"AccessLogGroup"} == set(groups)
    assert len(used) == len(FUNCTIONS)
    for group in groups.values():
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
