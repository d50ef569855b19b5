"""AWS for an operator: clients from the environment's own settings, and one clear line where AWS refuses."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import boto3
import click
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own, and only to be caught
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_datazone import DataZoneClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient

# Objects that are fetched at the same time.
LANES = 16

_CONFIG = Config(
    connect_timeout=5,
    read_timeout=30,
    retries={"mode": "standard", "total_max_attempts": 4},
    # Replay settles up to 64 events at a time, and reads ahead meanwhile.
    max_pool_connections=64 + LANES,
    user_agent_extra="lineage-adapter-cli",
)

_NO_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)
_DENIED = frozenset({"AccessDenied", "AccessDeniedException", "403", "AccessDenied.QueueOwner", "AuthorizationError"})
_EXPIRED = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidAccessKeyId",
        "UnrecognizedClientException",
    }
)
# Where an operation is not called as the IAM action it needs (Amazon S3 user guide, "Required permissions").
_ACTIONS = {
    "ListObjectsV2": "s3:ListBucket",
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "CopyObject": "s3:GetObject and s3:PutObject",
    "DeleteObject": "s3:DeleteObject",
    "DescribeStacks": "cloudformation:DescribeStacks",
    "GetSecretValue": "secretsmanager:GetSecretValue",
    "PutSecretValue": "secretsmanager:PutSecretValue",
    "UpdateSecretVersionStage": "secretsmanager:UpdateSecretVersionStage",
    "GetMetricData": "cloudwatch:GetMetricData",
    "GetLineageEvent": "datazone:GetLineageEvent",
    "ListLineageEvents": "datazone:ListLineageEvents",
    "GetCallerIdentity": "sts:GetCallerIdentity",
    "ListStackResources": "cloudformation:ListStackResources",
    "HeadBucket": "s3:ListBucket",
    "GetBucketVersioning": "s3:GetBucketVersioning",
    "GetBucketEncryption": "s3:GetEncryptionConfiguration",
    "DescribeStreamSummary": "kinesis:DescribeStreamSummary",
    "GetFunctionConfiguration": "lambda:GetFunctionConfiguration",
    "GetFunctionConcurrency": "lambda:GetFunctionConcurrency",
    "GetEventSourceMapping": "lambda:GetEventSourceMapping",
    "DescribeAlarms": "cloudwatch:DescribeAlarms",
    "GetTopicAttributes": "sns:GetTopicAttributes",
    "SimulatePrincipalPolicy": "iam:SimulatePrincipalPolicy",
}

# What there is not, by the error's code, or by operation and code where the code alone could mean anything.
_NO_QUEUE = "no such queue; the stack's outputs BacklogUrl and DeadLetterUrl name them, --stack looks it up"
_ABSENT = {
    "NoSuchBucket": "no such bucket; the stack's output QuarantineBucketName names it, --stack looks it up",
    "HeadBucket 404": "no such bucket; it was deleted, and nothing is kept: deploy the stack again",
    "NonExistentQueue": _NO_QUEUE,
    "QueueDoesNotExist": _NO_QUEUE,
    "GetSecretValue ResourceNotFoundException": (
        "no such secret; the stack's output ProducersSecretArn names it, --stack looks it up"
    ),
    "ListLineageEvents ResourceNotFoundException": "no such domain; deploy with the DomainId and DomainRegion of one",
    "DescribeStreamSummary ResourceNotFoundException": "no such stream; it was deleted: deploy the stack again",
}


class AwsError(click.ClickException):
    """AWS cannot be asked or refuses; the message says what to do. Alone, it ends a command with status 2."""

    exit_code = 2


class UnseenError(AwsError):
    """What was asked for could not be looked at, for want of a permission, credentials or a way: it may be well."""


endpoint_url_option = click.option(
    "--endpoint-url", metavar="URL", help="AWS at another address, as of the local system; also AWS_ENDPOINT_URL."
)
stack_option = click.option("--stack", metavar="NAME", help="The adapter's CloudFormation stack, to look it up there.")


def s3(endpoint_url: str | None) -> S3Client:
    """Make a client for the quarantine; raise AwsError."""
    with explained("S3"):
        return boto3.client("s3", endpoint_url=endpoint_url, config=_CONFIG)


def sqs(endpoint_url: str | None) -> SQSClient:
    """Make a client for the backlog; raise AwsError."""
    with explained("SQS"):
        return boto3.client("sqs", endpoint_url=endpoint_url, config=_CONFIG)


def secretsmanager(endpoint_url: str | None) -> SecretsManagerClient:
    """Make a client for the secret of producers; raise AwsError."""
    with explained("Secrets Manager"):
        return boto3.client("secretsmanager", endpoint_url=endpoint_url, config=_CONFIG)


def cloudwatch(endpoint_url: str | None) -> Any:  # noqa: ANN401 - its types are not among those installed
    """Make a client for the queues' metrics; raise AwsError."""
    with explained("CloudWatch"):
        return boto3.client("cloudwatch", endpoint_url=endpoint_url, config=_CONFIG)


def datazone(region: str | None, endpoint_url: str | None) -> DataZoneClient:
    """Make a client for the domain, in `region` or that of the environment; raise AwsError."""
    with explained("DataZone"):
        return boto3.client("datazone", region, endpoint_url=endpoint_url, config=_CONFIG)


def client(service: str, endpoint_url: str | None) -> Any:  # noqa: ANN401 - boto3's clients have a type each
    """Make a client for another service, by boto3's name for it; raise AwsError."""
    with explained(service):
        return boto3.client(cast("Any", service), endpoint_url=endpoint_url, config=_CONFIG)


def output(stack: str, name: str, endpoint_url: str | None) -> str:
    """Look up an output of the adapter's stack; raise AwsError where there is no such stack or output."""
    return outputs(stack, endpoint_url, name)[name]


def outputs(stack: str, endpoint_url: str | None, *names: str) -> dict[str, str]:
    """Look up outputs of the adapter's stack by their names; raise AwsError where there is no such stack or output."""
    with explained(f"the stack {stack}"):
        described = client("cloudformation", endpoint_url).describe_stacks(StackName=stack)["Stacks"][0]
    found = {one["OutputKey"]: str(one["OutputValue"]) for one in described.get("Outputs", ())}
    for name in names:
        if name not in found:
            raise AwsError(f"the stack {stack} has no output {name}: is it the adapter's, of this version?")
    return {name: found[name] for name in names}


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn what botocore raises into an AwsError about `what`, which says what to do next."""
    try:
        yield
    except ClientError as error:
        raise _refused(error, what) from None
    except NoRegionError:
        raise UnseenError("no AWS region; set AWS_REGION to where the adapter's stack is") from None
    except (HTTPClientError, ConnectionError) as error:
        url = str(error.kwargs.get("endpoint_url") or what)
        raise UnseenError(
            f"{url.partition('?')[0]} cannot be reached; check the network, AWS_REGION and --endpoint-url"
        ) from None
    except _NO_CREDENTIALS as error:
        raise UnseenError(
            f"no AWS credentials: {error}; log in (aws sso login, aws configure) or set AWS_PROFILE"
        ) from None
    except BotoCoreError as error:
        raise AwsError(f"{what}: {' '.join(str(error).split())}") from None
    except ValueError as error:
        raise UnseenError(f"AWS cannot be asked: {error}; check --endpoint-url") from None


def missing(error: ClientError) -> bool:
    """Say whether S3 means that there is no such object."""
    return error.response.get("Error", {}).get("Code") in ("NoSuchKey", "404")


def _refused(error: ClientError, what: str) -> AwsError:
    unseen = error.response.get("Error", {}).get("Code") in _DENIED | _EXPIRED or _is_nowhere(error)
    return (UnseenError if unseen else AwsError)(_refusal(error, what))


def _is_nowhere(error: ClientError) -> bool:
    """Say whether CloudFormation knows no such stack: it may be in another region or account."""
    said = error.response.get("Error", {}).get("Message", "")
    return error.operation_name == "DescribeStacks" and "does not exist" in said


def _refusal(error: ClientError, what: str) -> str:
    code, said = (str(error.response.get("Error", {}).get(key, "")) for key in ("Code", "Message"))
    operation = error.operation_name
    if code in _DENIED:
        action = _ACTIONS.get(operation) or f"sqs:{operation}"
        return f"{what}: access denied; your role needs {action}, and not to be denied it there"
    if code in _EXPIRED:
        return f"{what}: AWS does not take these credentials ({code}); log in again or check AWS_PROFILE"
    if absent := _ABSENT.get(f"{operation} {code}") or _ABSENT.get(code.rpartition(".")[2]):
        return f"{what}: {absent}"
    if _is_nowhere(error):
        return f"{what}: no such stack in this account and region; check --stack, AWS_PROFILE and AWS_REGION"
    return f"{what}: {operation} failed: {code} {said}".rstrip()
