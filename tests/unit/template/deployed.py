"""template.yaml as CloudFormation gets it, and what the tests ask of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from local import template as local
from tools.translate import PSEUDO_PARAMETERS, settled, template, translated

if TYPE_CHECKING:
    from collections.abc import Iterator

TEMPLATE = template()
PARAMETERS: dict[str, Any] = TEMPLATE["Parameters"]
TRANSLATED = translated()
DEPLOYED: dict[str, Any] = TRANSLATED["Resources"]
FUNCTIONS = [name for name, resource in DEPLOYED.items() if resource["Type"] == "AWS::Lambda::Function"]

# What holds events, and what says who may reach it.
KEPT = (
    "AWS::Kinesis::Stream",
    "AWS::Kinesis::ResourcePolicy",
    "AWS::SQS::Queue",
    "AWS::SQS::QueuePolicy",
    "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy",
    "AWS::SecretsManager::Secret",
)

# Parameters of a deployment whose producers come with a JWT.
JWT = {
    "Access": "jwt",
    "JwtIssuer": "https://login.example.com/pool",
    "JwtAudience": "lineage,lineage-test",
}

HOUR = 60 * 60
DAY = 24 * HOUR

SERVICE = "POWERTOOLS_SERVICE_NAME"


def of_type(kind: str) -> dict[str, dict[str, Any]]:
    """Give the properties of each resource of type `kind`, by logical id."""
    return {name: resource["Properties"] for name, resource in DEPLOYED.items() if resource["Type"] == kind}


def given(**parameters: str) -> dict[str, Any]:
    """Give the resources there are with `parameters`, all conditions decided."""
    return cast("dict[str, Any]", settled(TRANSLATED, parameters)["Resources"])


def broken(**parameters: str) -> list[str]:
    """Name the rules that CloudFormation would find broken by `parameters`."""
    values = local.of(TEMPLATE, {"DomainId": "dzd_1", **parameters}, PSEUDO_PARAMETERS)
    return [
        name
        for name, rule in TEMPLATE["Rules"].items()
        if values.resolve(rule.get("RuleCondition", True), name)
        and not all(values.resolve(one["Assert"], name) for one in rule["Assertions"])
    ]


def get_att(name: str) -> dict[str, list[str]]:
    """Give what names a resource's ARN."""
    return {"Fn::GetAtt": [name, "Arn"]}


def mapping_of(function: str) -> dict[str, Any]:
    mappings = of_type("AWS::Lambda::EventSourceMapping").values()
    (mapping,) = (mapping for mapping in mappings if mapping["FunctionName"] == {"Ref": function})
    return mapping


def role_of(function: str) -> dict[str, Any]:
    name, _ = DEPLOYED[function]["Properties"]["Role"]["Fn::GetAtt"]
    return of_type("AWS::IAM::Role")[name]


def strings(part: object) -> Iterator[str]:
    """Yield every string within `part`, keys left out."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from strings(inner)
