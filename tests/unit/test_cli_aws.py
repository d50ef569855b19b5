from __future__ import annotations

from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ParamValidationError,
    ReadTimeoutError,
    UnauthorizedSSOTokenError,
)
from botocore.stub import Stubber

from cli import aws
from cli.bucket import Bucket

if TYPE_CHECKING:
    from collections.abc import Callable


def _refused(code: str, operation: Any, message: str = "") -> ClientError:  # noqa: ANN401 - any operation's name
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (_refused("AccessDenied", "ListObjectsV2"), "your role needs s3:ListBucket"),
        (_refused("403", "HeadObject"), "your role needs s3:GetObject"),
        (_refused("AccessDenied", "CopyObject"), "your role needs s3:GetObject and s3:PutObject"),
        (_refused("AccessDenied", "DeleteObject"), "your role needs s3:DeleteObject"),
        (_refused("AccessDenied", "DescribeStacks"), "your role needs cloudformation:DescribeStacks"),
        (_refused("AccessDeniedException", "ReceiveMessage"), "your role needs sqs:ReceiveMessage"),
        (_refused("AccessDenied", "SendMessage"), "your role needs sqs:SendMessage"),
        (_refused("ExpiredToken", "GetObject"), "log in again"),
        (_refused("NoSuchBucket", "ListObjectsV2"), "no such bucket"),
        (_refused("AWS.SimpleQueueService.NonExistentQueue", "GetQueueAttributes"), "no such queue"),
        (_refused("ValidationError", "DescribeStacks", "Stack with id x does not exist"), "no such stack"),
        (_refused("SlowDown", "GetObject", "Please reduce"), "GetObject failed: SlowDown Please reduce"),
        (NoCredentialsError(), "no AWS credentials"),
        (UnauthorizedSSOTokenError(), "no AWS credentials"),
        (NoRegionError(), "set AWS_REGION"),
        (EndpointConnectionError(endpoint_url="http://aws.example"), "http://aws.example cannot be reached"),
        (ReadTimeoutError(endpoint_url="http://aws.example?prefix=x"), "http://aws.example cannot be reached"),
        (ParamValidationError(report="Invalid\nbucket name"), "Invalid bucket name"),
        (ValueError("Invalid endpoint: nonsense"), "check --endpoint-url"),
    ],
)
def test_what_aws_refuses_is_one_line_that_says_what_to_do(error: Exception, said: str) -> None:
    with pytest.raises(aws.AwsError) as raised, aws.explained("s3://kept/quarantine/"):
        raise error
    assert said in raised.value.message
    assert "\n" not in raised.value.message


@pytest.mark.parametrize(
    ("operation", "asked", "action"),
    [
        ("list_objects_v2", lambda bucket: list(bucket.keys("")), "s3:ListBucket"),
        ("list_objects_v2", lambda bucket: list(bucket.folders("")), "s3:ListBucket"),
        ("get_object", lambda bucket: bucket.get("a"), "s3:GetObject"),
        ("head_object", lambda bucket: bucket.exists("a"), "s3:GetObject"),
        ("copy_object", lambda bucket: bucket.move_away("a"), "s3:PutObject"),
    ],
)
def test_each_use_of_the_bucket_names_the_action_it_lacks(
    operation: str, asked: Callable[[Bucket], object], action: str
) -> None:
    client = boto3.client("s3", region_name="us-east-1")
    with Stubber(client) as stubber:
        stubber.add_client_error(operation, "AccessDenied")
        with pytest.raises(aws.AwsError, match=action):
            asked(Bucket(client, "kept"))


def test_no_region_is_said_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(aws.AwsError, match="set AWS_REGION"):
        aws.sqs(None)
