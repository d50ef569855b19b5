"""template.yaml and the code agree, and the deployment grants, keeps and logs no more than it should."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import pytest

from adapter import backlog, settings
from adapter.bootstrap import BATCH_EVENT_SECONDS, BATCH_PATIENCE
from adapter.doors import kinesis
from adapter.doors.http import ANSWER_SECONDS, BATCH_PATH, EVENT_PATHS, HEALTH_PATH
from adapter.model import Code, FormatAssertion, Received, Rejected, Source
from adapter.quarantine import Quarantine
from adapter.telemetry import Telemetry
from tests.artefact import ENVIRONMENT, ROOT
from tools.translate import template, translated

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = template()
PARAMETERS: dict[str, Any] = TEMPLATE["Parameters"]
DEPLOYED: dict[str, Any] = translated()["Resources"]
FUNCTIONS = [name for name, resource in DEPLOYED.items() if resource["Type"] == "AWS::Lambda::Function"]

HOUR = 60 * 60
DAY = 24 * HOUR

SERVICE = "POWERTOOLS_SERVICE_NAME"
POWERTOOLS = {"POWERTOOLS_LOG_LEVEL", "POWERTOOLS_METRICS_NAMESPACE", SERVICE}
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


def test_the_backlogs_function_has_time_for_a_batch_one_by_one() -> None:
    """Each message may take all the patience there is for DataZone, then for the bucket, then to be postponed."""
    batch = mapping_of("BacklogFunction")["BatchSize"]
    longest = batch * (BATCH_EVENT_SECONDS + 2 * BATCH_PATIENCE.attempt) + kinesis.ANSWER_SECONDS
    assert longest <= DEPLOYED["BacklogFunction"]["Properties"]["Timeout"]


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


def mapping_of(function: str) -> dict[str, Any]:
    mappings = of_type("AWS::Lambda::EventSourceMapping").values()
    (mapping,) = (mapping for mapping in mappings if mapping["FunctionName"] == {"Ref": function})
    return mapping


def test_the_stream_is_read_from_its_start_and_only_age_ends_the_attempts() -> None:
    """The function's partial answers count, a batch that kills it is halved, and what is too old goes to the bucket."""
    mapping = mapping_of("KinesisFunction")
    assert mapping["EventSourceArn"] == get_att("Stream")
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRetryAttempts"] == -1
    assert mapping["MaximumRecordAgeInSeconds"] == {"Ref": "StreamMaxAgeSeconds"}
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": get_att("Quarantine")}}


def test_a_record_reaches_the_bucket_a_day_before_the_stream_can_forget_it() -> None:
    """CloudFormation cannot compare two parameters; their bounds leave no pair of values that would be wrong."""
    assert DEPLOYED["Stream"]["Properties"]["RetentionPeriodHours"] == {"Ref": "StreamRetentionHours"}
    shortest = PARAMETERS["StreamRetentionHours"]["MinValue"] * HOUR
    assert PARAMETERS["StreamMaxAgeSeconds"]["MaxValue"] + DAY <= shortest
    assert PARAMETERS["StreamMaxAgeSeconds"]["Default"] == 2 * DAY


def test_the_backlog_is_read_in_batches_of_which_each_message_is_answered_for() -> None:
    mapping = mapping_of("BacklogFunction")
    assert mapping["EventSourceArn"] == get_att("Backlog")
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_backlog_is_slowed_down_where_it_is_received_and_not_where_it_runs() -> None:
    """What is received and then throttled by reserved concurrency has used up a try. Lambda takes 2 to 1000."""
    assert mapping_of("BacklogFunction")["ScalingConfig"] == {"MaximumConcurrency": {"Ref": "BacklogConcurrency"}}
    assert "ReservedConcurrentExecutions" not in DEPLOYED["BacklogFunction"]["Properties"]
    assert (PARAMETERS["BacklogConcurrency"]["MinValue"], PARAMETERS["BacklogConcurrency"]["MaxValue"]) == (2, 1000)


def test_the_stream_is_encrypted() -> None:
    assert DEPLOYED["Stream"]["Properties"]["StreamEncryption"]["EncryptionType"] == "KMS"


def test_without_the_stream_nothing_of_it_is_deployed() -> None:
    optional = {name for name, resource in DEPLOYED.items() if resource.get("Condition") == "StreamEnabled"}
    assert optional == {"Stream", "KinesisFunction", "KinesisRole", "KinesisLogGroup", "KinesisFunctionStream"}


# ---- What waits and what is kept ----


def queue(name: str) -> dict[str, Any]:
    return of_type("AWS::SQS::Queue")[name]


def test_what_is_deferred_goes_to_the_backlog_and_what_is_refused_to_the_bucket() -> None:
    for name in FUNCTIONS:
        variables = DEPLOYED[name]["Properties"]["Environment"]["Variables"]
        assert variables["BACKLOG_URL"] == {"Ref": "Backlog"}
        assert variables["QUARANTINE_BUCKET"] == {"Ref": "Quarantine"}


def test_a_message_is_tried_as_often_as_there_are_delays_and_then_moved() -> None:
    assert queue("Backlog")["RedrivePolicy"] == {
        "deadLetterTargetArn": get_att("DeadLetters"),
        "maxReceiveCount": backlog.TRIES,
    }


def test_only_the_backlog_moves_messages_to_the_dead_letters() -> None:
    """The two name each other, so the one's ARN is written out from the other's name, on which it has to end."""
    allowed = queue("DeadLetters")["RedriveAllowPolicy"]
    assert allowed["redrivePermission"] == "byQueue"
    ((text, values),) = (source["Fn::Sub"] for source in allowed["sourceQueueArns"])
    name, same = queue("Backlog")["QueueName"]["Fn::Sub"]
    assert text == f"arn:${{AWS::Partition}}:sqs:${{AWS::Region}}:${{AWS::AccountId}}:{name}"
    assert values == same


def test_a_function_that_dies_keeps_a_message_neither_too_short_nor_too_long() -> None:
    """Six times its timeout as AWS asks for; the tries last 12 hours even if it never says when to try again."""
    hidden = queue("Backlog")["VisibilityTimeout"]
    assert hidden >= 6 * DEPLOYED["BacklogFunction"]["Properties"]["Timeout"]
    assert hidden * (backlog.TRIES - 1) >= 12 * HOUR


def test_all_tries_fit_into_the_backlog_three_times_and_leave_the_dead_letters_ten_days() -> None:
    """A moved message keeps its first date: what it has spent in the one queue is missing in the other."""
    kept = queue("Backlog")["MessageRetentionPeriod"]
    slowest = sum(max(backlog.delay(attempt) for _ in range(100)) for attempt in range(1, backlog.TRIES))
    assert kept >= 3 * max(slowest, queue("Backlog")["VisibilityTimeout"] * (backlog.TRIES - 1))
    assert queue("DeadLetters")["MessageRetentionPeriod"] == 14 * DAY >= kept + 10 * DAY


def test_the_queues_take_the_largest_message_that_the_adapter_sends() -> None:
    for name in of_type("AWS::SQS::Queue"):
        assert queue(name)["MaximumMessageSize"] == backlog.MAX_MESSAGE_BYTES


def test_what_waits_and_what_is_kept_is_encrypted() -> None:
    for name in of_type("AWS::SQS::Queue"):
        assert queue(name)["SqsManagedSseEnabled"] is True
    for bucket in of_type("AWS::S3::Bucket").values():
        (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}


KEPT = ("AWS::Kinesis::Stream", "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "AWS::S3::Bucket", "AWS::S3::BucketPolicy")


@pytest.mark.parametrize("name", [name for name, resource in DEPLOYED.items() if resource["Type"] in KEPT])
def test_what_holds_events_outlives_the_stack_and_so_does_its_policy(name: str) -> None:
    assert DEPLOYED[name]["DeletionPolicy"] == "RetainExceptOnCreate"
    assert DEPLOYED[name]["UpdateReplacePolicy"] == "Retain"


def test_a_stack_made_anew_does_not_meet_what_the_last_one_left() -> None:
    """What is kept has a name of CloudFormation's making, or one with a part of this very stack's id in it."""
    names = [
        resource["Properties"][key]
        for resource in DEPLOYED.values()
        if resource["Type"] in KEPT
        for key in ("Name", "QueueName", "BucketName")
        if key in resource["Properties"]
    ]
    ((text, values),) = (name["Fn::Sub"] for name in names)
    assert "${Made}" in text
    uuid = {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]}
    assert values == {"Made": {"Fn::Select": [0, {"Fn::Split": ["-", uuid]}]}}


@pytest.mark.parametrize(
    ("policy", "target", "resources"),
    [
        ("BacklogTransport", {"Queues": [{"Ref": "Backlog"}]}, get_att("Backlog")),
        ("DeadLettersTransport", {"Queues": [{"Ref": "DeadLetters"}]}, get_att("DeadLetters")),
        (
            "QuarantineTransport",
            {"Bucket": {"Ref": "Quarantine"}},
            [get_att("Quarantine"), {"Fn::Sub": "${Quarantine.Arn}/*"}],
        ),
    ],
)
def test_nobody_reaches_what_is_kept_without_tls(policy: str, target: dict[str, Any], resources: object) -> None:
    properties = DEPLOYED[policy]["Properties"]
    (statement,) = properties["PolicyDocument"]["Statement"]
    assert properties == {"PolicyDocument": properties["PolicyDocument"]} | target
    assert (statement["Effect"], statement["Principal"]) == ("Deny", "*")
    assert statement["Action"] in {"sqs:*", "s3:*"}
    assert statement["Resource"] == resources
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_bucket_is_its_owners_alone() -> None:
    bucket = DEPLOYED["Quarantine"]["Properties"]
    public = {"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"}
    assert bucket["PublicAccessBlockConfiguration"] == dict.fromkeys(public, True)
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def test_the_bucket_forgets_everything_in_time_and_nothing_unseen() -> None:
    """One rule without a prefix, so for all keys: the adapter's, a replay's and Lambda's. What it replaces stays."""
    bucket = DEPLOYED["Quarantine"]["Properties"]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    forget, tidy = bucket["LifecycleConfiguration"]["Rules"]
    assert {"Prefix", "TagFilters"}.isdisjoint({*forget, *tidy})
    assert forget["Status"] == tidy["Status"] == "Enabled"
    assert forget["ExpirationInDays"] == {"Ref": "QuarantineDays"}
    assert forget["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert forget["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    assert tidy["ExpiredObjectDeleteMarker"] is True


# ---- What is granted ----


@pytest.mark.parametrize(
    ("function", "actions"),
    [
        ("HttpFunction", OWN_LOGS | {"sqs:SendMessage"}),
        ("KinesisFunction", OWN_LOGS | OWN_STREAM | FAILURES),
        ("BacklogFunction", OWN_LOGS | OWN_BACKLOG),
    ],
)
def test_each_role_grants_lambda_what_the_function_does_and_nothing_else(function: str, actions: set[str]) -> None:
    role = role_of(function)
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "lambda.amazonaws.com"}
    assert role["ManagedPolicyArns"] == [{"Ref": "DomainPolicy"}, {"Ref": "QuarantinePolicy"}]
    statements = [one for policy in role["Policies"] for one in policy["PolicyDocument"]["Statement"]]
    assert {action for statement in statements for action in statement["Action"]} == actions


def role_of(function: str) -> dict[str, Any]:
    name, _ = DEPLOYED[function]["Properties"]["Role"]["Fn::GetAtt"]
    return of_type("AWS::IAM::Role")[name]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_reaches_its_own_log_group_stream_and_queue(function: str) -> None:
    group = DEPLOYED[function]["Properties"]["LoggingConfig"]["LogGroup"]["Ref"]
    own = {"logs": get_att(group), "stream": get_att("Stream"), "backlog": get_att("Backlog")}
    for policy in role_of(function)["Policies"]:
        if policy["PolicyName"] != "failures":
            (statement,) = policy["PolicyDocument"]["Statement"]
            assert statement["Resource"] == own[policy["PolicyName"]]


def test_lambda_writes_what_it_gives_up_on_where_it_always_does_and_nowhere_else() -> None:
    (policy,) = (policy for policy in role_of("KinesisFunction")["Policies"] if policy["PolicyName"] == "failures")
    granted = {tuple(one["Action"]): one["Resource"] for one in policy["PolicyDocument"]["Statement"]}
    assert granted == {
        ("s3:PutObject",): {"Fn::Sub": "${Quarantine.Arn}/aws/lambda/*"},
        ("s3:ListBucket",): get_att("Quarantine"),
    }


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


def test_the_domain_is_reached_directly_or_under_the_one_role() -> None:
    (statement,) = of_type("AWS::IAM::ManagedPolicy")["DomainPolicy"]["PolicyDocument"]["Statement"]
    condition, under_the_role, directly = statement["Fn::If"]
    assert condition == "AssumesRole"
    assert under_the_role == {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": {"Ref": "DomainRoleArn"}}
    assert directly["Action"] == "datazone:PostLineageEvent"
    condition, given, default = directly["Resource"]["Fn::If"]
    assert (condition, given) == ("ResourceGiven", {"Ref": "DomainResource"})
    assert default["Fn::Sub"][0] == "arn:${AWS::Partition}:datazone:${Region}:${AWS::AccountId}:domain/${DomainId}"


def test_nothing_is_granted_by_a_wildcard_but_the_end_of_a_key() -> None:
    """Whoever needs one writes it into DomainResource, where it is seen. A key ends on what is made from its event."""
    policies = [
        policy["PolicyDocument"] for role in of_type("AWS::IAM::Role").values() for policy in role["Policies"]
    ] + [policy["PolicyDocument"] for policy in of_type("AWS::IAM::ManagedPolicy").values()]
    assert len(policies) == 9
    wild = [text for text in strings(policies) if "*" in text]
    assert [text for text in wild if not re.fullmatch(r"\$\{Quarantine\.Arn\}/[a-z/]+/\*", text)] == []


def test_queues_and_bucket_let_nobody_in_by_their_own_policies() -> None:
    """They only deny; who may come in is said by the roles."""
    documents = [one["PolicyDocument"] for kind in KEPT for one in of_type(kind).values() if "PolicyDocument" in one]
    assert len(documents) == 3
    assert {statement["Effect"] for document in documents for statement in document["Statement"]} == {"Deny"}


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


@pytest.mark.parametrize(
    ("topic", "allowed"),
    [
        ("", True),
        ("arn:aws:sns:eu-central-1:123456789012:on-call", True),
        ("arn:aws-us-gov:sns:us-gov-west-1:123456789012:on_call", True),
        ("arn:aws:sns:eu-central-1:123456789012:on-call.fifo", False),
        ("arn:aws:sqs:eu-central-1:123456789012:on-call", False),
    ],
)
def test_alarms_go_to_a_topic_that_alarms_can_use(topic: str, *, allowed: bool) -> None:
    """CloudWatch does not publish to a FIFO topic."""
    assert bool(re.fullmatch(PARAMETERS["AlarmTopicArn"]["AllowedPattern"], topic)) is allowed


def test_log_levels_are_pythons() -> None:
    assert set(PARAMETERS["LogLevel"]["AllowedValues"]) <= set(logging.getLevelNamesMapping())


# ---- The alarms ----


@pytest.mark.parametrize("name", of_type("AWS::CloudWatch::Alarm"))
def test_every_alarm_goes_off_at_one_event_and_tells_the_topic_if_there_is_one(name: str) -> None:
    alarm = DEPLOYED[name]["Properties"]
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")
    assert alarm["AlarmActions"] == {"Fn::If": ["AlarmTopicGiven", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}


def test_somebody_is_told_of_the_first_dead_letter_and_what_to_do() -> None:
    alarm = DEPLOYED["DeadLettersAlarm"]["Properties"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/SQS", "ApproximateNumberOfMessagesVisible")
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["DeadLetters", "QueueName"]}}]
    assert (alarm["Statistic"], alarm["EvaluationPeriods"]) == ("Maximum", 1)
    for command in ("status", "redrive"):
        assert (
            f"`lineage-adapter backlog {command} --stack ${{AWS::StackName}}`" in alarm["AlarmDescription"]["Fn::Sub"]
        )


def test_a_queue_that_was_not_empty_alarms_until_it_is_seen_empty() -> None:
    """SQS sends no numbers of a queue that nobody has used for hours; that is not the end of an alarm."""
    assert DEPLOYED["DeadLettersAlarm"]["Properties"]["TreatMissingData"] == "ignore"


def test_somebody_is_told_of_an_event_that_nothing_durable_took(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alarm adds up, by name and dimensions, what telemetry counts of both HTTP doors, with the others' none."""
    alarm = DEPLOYED["UnkeptAlarm"]["Properties"]
    total, *watched = alarm["Metrics"]
    assert total["Expression"] == " + ".join(f"FILL({one['Id']}, 0)" for one in watched)
    assert {one["MetricStat"]["Stat"] for one in watched} == {"Sum"}
    assert not any(one["ReturnData"] for one in watched)
    assert alarm["DatapointsToAlarm"] == 1
    assert alarm["TreatMissingData"] == "notBreaching"
    assert [_metric(one["MetricStat"]["Metric"]) for one in watched] == _counted(capsys, monkeypatch)


def _metric(watched: dict[str, Any]) -> tuple[str, str, dict[str, str]]:
    dimensions = {one["Name"]: one["Value"] for one in watched["Dimensions"]}
    assert dimensions["service"] == DEPLOYED["HttpFunction"]["Properties"]["Environment"]["Variables"][SERVICE]
    return watched["Namespace"], watched["MetricName"], dimensions | {"service": "stack"}


def _counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str, dict[str, str]]]:
    variables = DEPLOYED["HttpFunction"]["Properties"]["Environment"]["Variables"]
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", variables["POWERTOOLS_METRICS_NAMESPACE"])
    monkeypatch.setenv(SERVICE, "stack")
    telemetry = Telemetry()
    for source in (Source.HTTP, Source.BATCH):
        telemetry.unkept(Received(b"", source))
    telemetry.flush()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return [
        (metric["Namespace"], metric["Metrics"][0]["Name"], {name: line[name] for name in metric["Dimensions"][0]})
        for line in lines
        if "_aws" in line
        for metric in line["_aws"]["CloudWatchMetrics"]
    ]


# ---- The outputs ----


def test_the_outputs_say_where_to_post() -> None:
    outputs = TEMPLATE["Outputs"]
    assert outputs["Url"]["Value"] == {"Fn::GetAtt": ["HttpApi", "ApiEndpoint"]}
    assert outputs["StreamName"]["Value"] == {"Ref": "Stream"}
    assert all(output["Description"] for output in outputs.values())


def test_the_outputs_say_where_events_wait_and_are_kept() -> None:
    outputs = {name: output["Value"] for name, output in TEMPLATE["Outputs"].items()}
    assert outputs["BacklogUrl"] == {"Ref": "Backlog"}
    assert outputs["DeadLetterUrl"] == {"Ref": "DeadLetters"}
    assert outputs["QuarantineBucketName"] == {"Ref": "Quarantine"}
    assert outputs["BacklogFunctionName"] == {"Ref": "BacklogFunction"}
    assert outputs["BacklogLogGroupName"] == {"Ref": "BacklogLogGroup"}
