"""Each way in is the one that the code and the emitters expect."""

from __future__ import annotations

import json
import re

from adapter.doors.http import BATCH_PATH, EVENT_PATHS, HEALTH_PATH
from tests.unit.template.deployed import DAY, DEPLOYED, HOUR, PARAMETERS, get_att, mapping_of, of_type


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


def test_without_the_stream_nothing_of_it_is_deployed() -> None:
    optional = {name for name, resource in DEPLOYED.items() if resource.get("Condition") == "StreamEnabled"}
    assert optional == {
        "Stream",
        "KinesisFunction",
        "KinesisRole",
        "KinesisLogGroup",
        "KinesisFunctionStream",
        "IteratorAgeAlarm",
    }
