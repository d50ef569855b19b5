"""A command that looks the stack up is answered as CloudFormation answers it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import boto3
import pytest
from botocore.parsers import create_parser

from local import resources, template
from local.cloudformation import Resource, Stack, answer
from local.server import Request
from local.system import PARAMETERS, TEMPLATE

if TYPE_CHECKING:
    from typing import Any

STACK = Stack(
    "lineage-adapter",
    "arn:aws:cloudformation:us-east-1:1:stack/lineage-adapter/0",
    {"Url": "http://a?b&c"},
    {"Access": "tokens"},
    (Resource("HttpFunction", "AWS::Lambda::Function", "http"),),
)


def asked(stack: Stack | None, operation: str = "DescribeStacks", **said: str) -> tuple[int, dict[str, Any]]:
    body = urlencode({"Action": operation, **said}).encode()
    response = answer(replace(REQUEST, body=body), stack)
    model = boto3.client("cloudformation", "us-east-1").meta.service_model.operation_model(operation)
    told = {"status_code": response.status, "headers": dict(response.headers), "body": response.body}
    return response.status, create_parser("query").parse(told, model.output_shape)


REQUEST = Request("POST", "/", (), b"", "127.0.0.1")


@pytest.mark.parametrize("said", [{}, {"StackName": STACK.name}, {"StackName": STACK.id}])
def test_its_outputs_and_parameters_are_told(said: dict[str, str]) -> None:
    status, told = asked(STACK, **said)
    assert status == 200
    (stack,) = told["Stacks"]
    assert (stack["StackName"], stack["StackId"]) == (STACK.name, STACK.id)
    assert stack["Outputs"] == [{"OutputKey": "Url", "OutputValue": "http://a?b&c"}]
    assert stack["Parameters"] == [{"ParameterKey": "Access", "ParameterValue": "tokens"}]
    assert stack["CreationTime"] == STACK.created


def test_what_it_is_made_of_is_listed() -> None:
    status, told = asked(STACK, "ListStackResources", StackName=STACK.name)
    (part,) = told["StackResourceSummaries"]
    assert (status, part["LogicalResourceId"], part["PhysicalResourceId"]) == (200, "HttpFunction", "http")
    assert part["ResourceType"] == "AWS::Lambda::Function"


@pytest.mark.parametrize(("stack", "name"), [(STACK, "another"), (None, STACK.name)])
def test_there_is_no_other(stack: Stack | None, name: str) -> None:
    status, told = asked(stack, StackName=name)
    assert (status, told["Error"]["Code"]) == (400, "ValidationError")
    assert "does not exist" in told["Error"]["Message"]


def test_nothing_else_is_known() -> None:
    assert asked(STACK, "CreateStack")[1]["Error"]["Code"] == "InvalidAction"


def test_the_stack_has_the_templates_outputs() -> None:
    read = resources.named(template.read(TEMPLATE, PARAMETERS, resources.PSEUDO_PARAMETERS), "http://aws")
    stack = resources.stack(read, "http://adapter")
    assert stack.outputs["Url"] == "http://adapter"
    assert stack.outputs.keys() == read.outputs().keys()
