"""template.yaml and the code agree, and the deployment grants, keeps and logs no more than it should."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from adapter import settings
from adapter.doors.http import ANSWER_SECONDS, BATCH_PATH, EVENT_PATHS, HEALTH_PATH
from adapter.model import FormatAssertion
from tests.artefact import ENVIRONMENT, ROOT
from tools.translate import template, translated

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = template()
PARAMETERS: dict[str, Any] = TEMPLATE["Parameters"]
DEPLOYED: dict[str, Any] = translated()["Resources"]
FUNCTIONS = [name for name, resource in DEPLOYED.items() if resource["Type"] == "AWS::Lambda::Function"]

POWERTOOLS = {"POWERTOOLS_LOG_LEVEL", "POWERTOOLS_METRICS_NAMESPACE", "POWERTOOLS_SERVICE_NAME"}
OWN_LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
OWN_STREAM = {
    "kinesis:DescribeStream",
    "kinesis:DescribeStreamSummary",
    "kinesis:GetRecords",
    "kinesis:GetShardIterator",
    "kinesis:ListShards",
}


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    return {name: resource["Properties"] for name, resource in DEPLOYED.items() if resource["Type"] == kind}


def get_att(name: str) -> dict[str, list[str]]:
    return {"Fn::GetAtt": [name, "Arn"]}


def strings(part: object) -> Iterator[str]:
    """Yield every string within `part`, keys left out."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from strings(inner)


# ---- The functions ----


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_is_told_what_settings_read_and_powertools_need(name: str) -> None:
    variables = DEPLOYED[name]["Properties"]["Environment"]["Variables"]
    assert set(variables) == set(settings.VARIABLES) | POWERTOOLS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_has_a_handler_module_of_its_own_and_is_built_by_the_makefile(name: str) -> None:
    module, _, function = DEPLOYED[name]["Properties"]["Handler"].rpartition(".")
    assert function == "handler"
    assert find_spec(module) is not None
    assert DEPLOYED[name]["Metadata"] == {"BuildMethod": "makefile"}


def test_the_build_is_for_the_machine_that_is_asked_for() -> None:
    """arm64 and Python 3.13: the functions, the Makefile's wheels and byte-code, and the project itself."""
    makefile = (ROOT / "Makefile").read_text()
    for name in FUNCTIONS:
        assert DEPLOYED[name]["Properties"]["Architectures"] == ["arm64"]
        assert DEPLOYED[name]["Properties"]["Runtime"] == "python3.13"
    assert "--python-platform aarch64-" in makefile
    assert "--python-version 3.13 " in makefile
    assert (ROOT / ".python-version").read_text().strip() == "3.13"


def test_the_doors_own_clock_and_not_lambdas_ends_an_answer() -> None:
    """The whole answer is promised in 4 seconds; Lambda's timeout leaves the door its time and some more."""
    assert ANSWER_SECONDS < 4 < DEPLOYED["HttpFunction"]["Properties"]["Timeout"]


# ---- The doors ----


def test_the_api_has_the_doors_routes_and_one_for_everything_else() -> None:
    paths = of_type("AWS::ApiGatewayV2::Api")["HttpApi"]["Body"]["paths"]
    routes = {(method, path) for path, methods in paths.items() for method in methods}
    posts = {("post", path) for path in (*EVENT_PATHS, BATCH_PATH)}
    assert routes == posts | {("get", HEALTH_PATH), ("x-amazon-apigateway-any-method", "$default")}


def test_every_route_sends_payload_format_1_to_the_http_function() -> None:
    paths = of_type("AWS::ApiGatewayV2::Api")["HttpApi"]["Body"]["paths"]
    for methods in paths.values():
        for operation in methods.values():
            integration = operation["x-amazon-apigateway-integration"]
            assert integration["payloadFormatVersion"] == "1.0"
            assert "${HttpFunction.Arn}" in integration["uri"]["Fn::Sub"]


def test_the_api_is_reached_without_a_path() -> None:
    """Clients lose or replace a path that is in the URL they are given."""
    (stage,) = of_type("AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"


def test_access_logs_hold_no_credential_and_nothing_that_an_emitter_words() -> None:
    (stage,) = of_type("AWS::ApiGatewayV2::Stage").values()
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert logged["status"] == "$context.status"
    for variable in logged.values():
        assert not re.search(
            r"header|authorizer|path|query|body|userAgent|extendedRequest|identity\.(?!sourceIp)", variable
        )


def test_the_stream_is_read_from_its_start_and_given_up_on_by_nobody() -> None:
    """The function's partial answers count, a batch that kills it is halved, and no record ages or tries out."""
    (mapping,) = of_type("AWS::Lambda::EventSourceMapping").values()
    assert mapping["EventSourceArn"] == get_att("Stream")
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRecordAgeInSeconds"] == mapping["MaximumRetryAttempts"] == -1


def test_the_stream_is_encrypted_and_outlives_its_stack() -> None:
    assert DEPLOYED["Stream"]["Properties"]["StreamEncryption"]["EncryptionType"] == "KMS"
    assert DEPLOYED["Stream"]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert DEPLOYED["Stream"]["UpdateReplacePolicy"] == "Retain"


def test_without_the_stream_nothing_of_it_is_deployed() -> None:
    optional = {name for name, resource in DEPLOYED.items() if resource.get("Condition") == "StreamEnabled"}
    assert optional == {"Stream", "KinesisFunction", "KinesisRole", "KinesisLogGroup", "KinesisFunctionStream"}


# ---- What is granted ----


@pytest.mark.parametrize(
    ("function", "actions"),
    [("HttpFunction", OWN_LOGS), ("KinesisFunction", OWN_LOGS | OWN_STREAM)],
)
def test_each_role_grants_lambda_what_the_function_does_and_nothing_else(function: str, actions: set[str]) -> None:
    role = role_of(function)
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}
    assert role["ManagedPolicyArns"] == [{"Ref": "DomainPolicy"}]
    statements = [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]
    assert {action for statement in statements for action in statement["Action"]} == actions


def role_of(function: str) -> dict[str, Any]:
    name, _ = DEPLOYED[function]["Properties"]["Role"]["Fn::GetAtt"]
    return of_type("AWS::IAM::Role")[name]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_reaches_its_own_log_group_and_its_own_stream(function: str) -> None:
    group = DEPLOYED[function]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
    own = {"logs": get_att(group), "stream": get_att("Stream")}
    for policy in role_of(function)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Resource"] == own[policy["PolicyName"]]


def test_the_domain_is_reached_directly_or_under_the_one_role() -> None:
    (statement,) = of_type("AWS::IAM::ManagedPolicy")["DomainPolicy"]["PolicyDocument"]["Statement"]
    condition, under_the_role, directly = statement["Fn::If"]
    assert condition == "AssumesRole"
    assert under_the_role == {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": {"Ref": "DomainRoleArn"}}
    assert directly["Action"] == "datazone:PostLineageEvent"
    condition, given, default = directly["Resource"]["Fn::If"]
    assert (condition, given) == ("ResourceGiven", {"Ref": "DomainResource"})
    assert default["Fn::Sub"][0] == "arn:${AWS::Partition}:datazone:${Region}:${AWS::AccountId}:domain/${DomainId}"


def test_no_policy_has_a_wildcard() -> None:
    """Whoever needs one writes it into DomainResource, where it is seen."""
    policies = [
        policy["PolicyDocument"] for role in of_type("AWS::IAM::Role").values() for policy in role["Policies"]
    ] + [policy["PolicyDocument"] for policy in of_type("AWS::IAM::ManagedPolicy").values()]
    assert len(policies) == 4
    assert [text for text in strings(policies) if "*" in text] == []


def test_log_lines_go_where_they_are_kept_for_as_long_as_is_asked() -> None:
    """Each function and the API write to a group of this template, and each group has its retention."""
    groups = of_type("AWS::Logs::LogGroup")
    used = {DEPLOYED[name]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for name in FUNCTIONS}
    assert used | {"AccessLogGroup"} == set(groups)
    assert len(used) == len(FUNCTIONS)
    for group in groups.values():
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}


# ---- The parameters ----


def uses(name: str) -> bool:
    text = json.dumps({part: TEMPLATE[part] for part in ("Conditions", "Globals", "Resources")})
    return f'{{"Ref": "{name}"}}' in text or f"${{{name}}}" in text


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_described_bounded_and_used(name: str) -> None:
    parameter = PARAMETERS[name]
    assert parameter["Description"]
    assert {"AllowedPattern", "AllowedValues", "MinValue"} & set(parameter)
    assert ("AllowedPattern" in parameter) == ("ConstraintDescription" in parameter)
    assert uses(name)


def test_every_parameter_has_its_place_in_the_console_and_all_but_the_domain_a_default() -> None:
    groups = TEMPLATE["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(PARAMETERS)
    assert [name for name, parameter in PARAMETERS.items() if "Default" not in parameter] == ["DomainId"]


@pytest.mark.parametrize("name", TEMPLATE["Conditions"])
def test_every_condition_is_used(name: str) -> None:
    text = json.dumps([TEMPLATE["Globals"], TEMPLATE["Resources"]])
    assert f'"Condition": "{name}"' in text or f'"Fn::If": ["{name}"' in text


def test_the_domains_parameters_take_what_settings_take() -> None:
    """CloudFormation holds the whole value against an AllowedPattern; an alternative that is empty allows no value."""
    assert PARAMETERS["DomainId"]["AllowedPattern"] == settings.DOMAIN_ID.pattern
    assert PARAMETERS["DomainRegion"]["AllowedPattern"] == f"|{settings.REGION.pattern}"
    assert PARAMETERS["DomainRoleArn"]["AllowedPattern"] == f"|{settings.ROLE_ARN.pattern}"


@pytest.mark.parametrize(
    ("resource", "allowed"),
    [
        ("", True),
        ("*", True),
        ("arn:aws:datazone:eu-central-1:123456789012:domain/dzd_1a2b", True),
        ("arn:aws-us-gov:datazone:us-gov-west-1:123456789012:domain/*", True),
        ("arn:aws:s3:::bucket", False),
        ("**", False),
    ],
)
def test_the_domain_resource_is_a_domain_or_all_of_them(resource: str, *, allowed: bool) -> None:
    pattern = PARAMETERS["DomainResource"]["AllowedPattern"]
    assert bool(re.fullmatch(pattern, resource)) is allowed


def test_settings_take_every_value_that_the_template_takes() -> None:
    lanes = PARAMETERS["Lanes"]
    assert settings.read(ENVIRONMENT | {"LANES": str(lanes["MinValue"])}).lanes == lanes["MinValue"]
    assert settings.read(ENVIRONMENT | {"LANES": str(lanes["MaxValue"])}).lanes == lanes["MaxValue"]
    for beyond in (lanes["MinValue"] - 1, lanes["MaxValue"] + 1):
        with pytest.raises(settings.SettingsError):
            settings.read(ENVIRONMENT | {"LANES": str(beyond)})
    assert PARAMETERS["FormatAssertion"]["AllowedValues"] == list(FormatAssertion)


def test_the_templates_defaults_are_those_of_settings() -> None:
    """What runs without a template behaves like what is deployed with all parameters left alone."""
    bare = settings.read(ENVIRONMENT)
    told = replace(
        bare,
        domain_role_arn=PARAMETERS["DomainRoleArn"]["Default"] or None,
        format_assertion=FormatAssertion(PARAMETERS["FormatAssertion"]["Default"]),
        lanes=PARAMETERS["Lanes"]["Default"],
    )
    assert told == bare


def test_log_levels_are_pythons() -> None:
    assert set(PARAMETERS["LogLevel"]["AllowedValues"]) <= set(logging.getLevelNamesMapping())


def test_the_outputs_say_where_to_post() -> None:
    outputs = TEMPLATE["Outputs"]
    assert outputs["Url"]["Value"] == {"Fn::GetAtt": ["HttpApi", "ApiEndpoint"]}
    assert outputs["StreamName"]["Value"] == {"Ref": "Stream"}
    assert all(output["Description"] for output in outputs.values())
