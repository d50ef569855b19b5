"""The adapter's stack: what it was deployed with, what it gives, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cli import aws
from cli.doctor.finding import Finding, failed, ok, warning

if TYPE_CHECKING:
    from collections.abc import Mapping

FUNCTION, MAPPING = "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping"
ALARM, ROLE = "AWS::CloudWatch::Alarm", "AWS::IAM::Role"


@dataclass(frozen=True, slots=True)
class Resource:
    """A part of a stack, by its name in the template, its type and its name in AWS."""

    logical_id: str
    type: str
    physical_id: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """A stack as CloudFormation describes it; `changed` is when it was deployed last."""

    arn: str
    status: str
    changed: datetime
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    resources: tuple[Resource, ...]

    def of(self, kind: str) -> dict[str, str]:
        """Give the parts of a type: their names in AWS by those in the template."""
        return {one.logical_id: one.physical_id for one in self.resources if one.type == kind}

    def output(self, name: str) -> str:
        """Give an output; raise AwsError where it is missing."""
        if name not in self.outputs:
            raise aws.AwsError(f"the stack has no output {name}: is it the adapter's, of this version?")
        return self.outputs[name]

    def is_new(self, age: timedelta) -> bool:
        """Say whether it was deployed, or changed, within `age`."""
        return datetime.now(UTC) - self.changed < age

    def finding(self) -> Finding:
        """Say how its last deployment ended (AWS CloudFormation user guide, "Stack status codes")."""
        said = f"{self.status}, {len(self.resources)} parts"
        if "ROLLBACK" in self.status or self.status.endswith("FAILED"):
            to_do = f"what went wrong: aws cloudformation describe-stack-events --stack-name {self.arn}"
            serves = self.status == "UPDATE_ROLLBACK_COMPLETE"
            return (warning if serves else failed)(f"{said}: the last deployment failed", to_do)
        if self.status.endswith("IN_PROGRESS"):
            return warning(f"{said}: it is being deployed", "look again when that has ended")
        return ok(said)


def described(stack: str, endpoint_url: str | None) -> Deployment:
    """Look a stack up; raise AwsError."""
    client = aws.client("cloudformation", endpoint_url)
    with aws.explained(f"the stack {stack}"):
        said = client.describe_stacks(StackName=stack)["Stacks"][0]
        pages = client.get_paginator("list_stack_resources").paginate(StackName=stack)
        listed = [one for page in pages for one in page["StackResourceSummaries"]]
    return Deployment(
        said["StackId"],
        said["StackStatus"],
        said.get("LastUpdatedTime", said["CreationTime"]),
        {one["OutputKey"]: one["OutputValue"] for one in said.get("Outputs", ())},
        {one["ParameterKey"]: one["ParameterValue"] for one in said.get("Parameters", ())},
        tuple(
            Resource(one["LogicalResourceId"], one["ResourceType"], one["PhysicalResourceId"])
            for one in listed
            if "PhysicalResourceId" in one
        ),
    )
