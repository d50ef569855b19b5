"""The template's stream, queues, buckets and alarms: what they are called here, and made in the local AWS."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from local import functions
from local.account import ACCOUNT, REGION
from local.cloudformation import Resource, Stack
from local.template import Physical, Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

STACK = "lineage-adapter"
STREAM = "openlineage"

PSEUDO_PARAMETERS = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{STACK}/00000000-0000-0000-0000-000000000000",
    "AWS::StackName": STACK,
    "AWS::URLSuffix": "amazonaws.com",
}

_FUNCTION, _SECRET = "AWS::Serverless::Function", "AWS::SecretsManager::Secret"
_STREAM, _QUEUE, _BUCKET = "AWS::Kinesis::Stream", "AWS::SQS::Queue", "AWS::S3::Bucket"
_API, _ALARM = "AWS::Serverless::HttpApi", "AWS::CloudWatch::Alarm"
_MADE_OF = {_FUNCTION: "AWS::Lambda::Function", _API: "AWS::ApiGatewayV2::Api"}

# What a queue here has of its properties; the others are about who may use it.
_QUEUE_ATTRIBUTES: tuple[QueueAttributeNameType, ...] = (
    "DelaySeconds",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "VisibilityTimeout",
)


def named(template: Template, endpoint: str) -> Template:
    """Give `template` the physical ids its resources have at `endpoint`, the URL of the local AWS."""
    physical = {logical_id: Physical(f"{STACK}-{logical_id}") for logical_id in template.logical_ids()}
    for logical_id in template.resources(_STREAM):
        name = _name(template, _STREAM, logical_id, "Name", STREAM)
        physical[logical_id] = Physical(name, {"Arn": f"arn:aws:kinesis:{REGION}:{ACCOUNT}:stream/{name}"})
    for logical_id in template.resources(_QUEUE):
        name = _name(template, _QUEUE, logical_id, "QueueName", f"{STACK}-{logical_id.lower()}")
        arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
        physical[logical_id] = Physical(f"{endpoint}/{ACCOUNT}/{name}", {"Arn": arn, "QueueName": name})
    for logical_id in template.resources(_BUCKET):
        name = _name(template, _BUCKET, logical_id, "BucketName", f"{STACK}-{logical_id.lower()}")
        physical[logical_id] = Physical(name, {"Arn": f"arn:aws:s3:::{name}"})
    for logical_id in template.resources(_SECRET):
        # Without the six characters that Secrets Manager adds: it and moto find a secret by such an ARN too.
        physical[logical_id] = Physical(f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:{_secret(logical_id)}")
    for logical_id in template.resources(_FUNCTION):
        name = physical[logical_id].ref
        physical[logical_id] = Physical(name, {"Arn": f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"})
    for logical_id in template.resources(_ALARM):
        name = physical[logical_id].ref
        physical[logical_id] = Physical(name, {"Arn": f"arn:aws:cloudwatch:{REGION}:{ACCOUNT}:alarm:{name}"})
    return replace(template, physical=physical)


def create(
    template: Template, kinesis: KinesisClient, sqs: SQSClient, s3: S3Client, secrets: SecretsManagerClient
) -> None:
    """Make the streams, queues, buckets and secrets of a template that `named` gave."""
    for logical_id, properties in _resolved(template, _SECRET).items():
        secrets.create_secret(Name=_secret(logical_id), SecretString=properties["SecretString"])
    for logical_id, properties in _resolved(template, _STREAM).items():
        _create_stream(kinesis, template.physical[logical_id].ref, properties)
    queues = _resolved(template, _QUEUE)
    for logical_id, properties in queues.items():
        attributes = {name: str(properties[name]) for name in _QUEUE_ATTRIBUTES if name in properties}
        sqs.create_queue(QueueName=template.physical[logical_id].attributes["QueueName"], Attributes=attributes)
    for logical_id, properties in queues.items():
        if policy := properties.get("RedrivePolicy"):
            url = template.physical[logical_id].ref
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})
    for logical_id, properties in _resolved(template, _BUCKET).items():
        _create_bucket(s3, template.physical[logical_id].ref, properties)


def create_alarms(template: Template, cloudwatch: Any) -> None:  # noqa: ANN401 - its types are not installed
    """Make the alarms. Nobody evaluates them here, so they are said to have no data; moto would call them well."""
    for logical_id, properties in _resolved(template, _ALARM).items():
        name, threshold = template.physical[logical_id].ref, float(properties["Threshold"])
        periods = int(properties["EvaluationPeriods"])
        numbers = {"Threshold": threshold, "EvaluationPeriods": periods}
        cloudwatch.put_metric_alarm(AlarmName=name, **{**properties, **numbers})
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="INSUFFICIENT_DATA", StateReason="not evaluated here")


def stack(template: Template, url: str) -> Stack:
    """Say what stack there is; `url` is where its API is."""
    apis = {name: Physical(name, {"ApiEndpoint": url}) for name in template.resources(_API)}
    template = replace(template, physical={**template.physical, **apis})
    outputs = {
        name: str(template.resolve(output["Value"], f"Outputs.{name}")) for name, output in template.outputs().items()
    }
    declared = template.document.get("Parameters", {})
    parameters = {name: str(template.parameters[name]) for name in declared}
    return Stack(STACK, PSEUDO_PARAMETERS["AWS::StackId"], outputs, parameters, tuple(_resources(template)))


def _resources(template: Template) -> Iterator[Resource]:
    """Give what is there of the stack, under the types that SAM makes of its own."""
    for kind in (_STREAM, _QUEUE, _BUCKET, _SECRET, _ALARM, _API, _FUNCTION):
        for logical_id in template.resources(kind):
            yield Resource(logical_id, _MADE_OF.get(kind, kind), template.physical[logical_id].ref)
    for source in functions.sources(template.functions()):
        yield Resource(source.logical_id, "AWS::Lambda::EventSourceMapping", source.uuid)


def _name(template: Template, kind: str, logical_id: str, attribute: str, otherwise: str) -> str:
    given = template.resources(kind)[logical_id].get(attribute, otherwise)
    return str(template.resolve(given, f"{logical_id}.{attribute}"))


def _secret(logical_id: str) -> str:
    return f"{STACK}-{logical_id.lower()}"


def _resolved(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    return {name: template.resolve(properties, name) for name, properties in template.resources(kind).items()}


def _create_stream(kinesis: KinesisClient, name: str, properties: Mapping[str, Any]) -> None:
    if properties.get("StreamModeDetails", {}).get("StreamMode") == "ON_DEMAND":
        kinesis.create_stream(StreamName=name, StreamModeDetails={"StreamMode": "ON_DEMAND"})
    else:
        kinesis.create_stream(StreamName=name, ShardCount=int(properties["ShardCount"]))


def _create_bucket(s3: S3Client, name: str, properties: Mapping[str, Any]) -> None:
    s3.create_bucket(Bucket=name)
    if properties.get("VersioningConfiguration", {}).get("Status") == "Enabled":
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    if encryption := properties.get("BucketEncryption"):
        s3.put_bucket_encryption(Bucket=name, ServerSideEncryptionConfiguration={"Rules": _rules(encryption)})


def _rules(encryption: Mapping[str, Any]) -> Any:  # noqa: ANN401 - S3's own type of it
    """Say it as S3 does, which has one word more than CloudFormation."""
    word = "ServerSideEncryptionByDefault"
    return [
        {f"Apply{word}": rule[word], "BucketKeyEnabled": bool(rule.get("BucketKeyEnabled"))}
        for rule in encryption["ServerSideEncryptionConfiguration"]
    ]
