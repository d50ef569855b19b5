"""What runs here is described as Lambda describes it, and what does not run here is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.parsers import create_parser

from local import functions, resources, template
from local.functions import Functions
from local.server import Request
from local.system import PARAMETERS, TEMPLATE

if TYPE_CHECKING:
    from typing import Any

READ = resources.named(template.read(TEMPLATE, PARAMETERS, resources.PSEUDO_PARAMETERS), "http://aws")


def asked(operation: str, path: str, method: str = "GET") -> tuple[int, dict[str, Any]]:
    response = Functions(READ.functions()).answer(Request(method, path, (), b"", "127.0.0.1"))
    model = boto3.client("lambda", "us-east-1").meta.service_model.operation_model(operation)
    headers = {name.lower(): value for name, value in response.headers}
    told = {"status_code": response.status, "headers": headers, "body": response.body}
    return response.status, create_parser("rest-json").parse(told, model.output_shape)


def test_a_function_that_runs_is_active() -> None:
    path = "/2015-03-31/functions/lineage-adapter-HttpFunction/configuration"
    status, told = asked("GetFunctionConfiguration", path)
    assert (status, told["State"], told["LastUpdateStatus"]) == (200, "Active", "Successful")
    assert told["Handler"] == "adapter.handlers.http.handler"


def test_no_concurrency_is_reserved() -> None:
    path = "/2019-09-30/functions/lineage-adapter-HttpFunction/concurrency"
    assert "ReservedConcurrentExecutions" not in asked("GetFunctionConcurrency", path)[1]


def test_what_is_polled_is_enabled() -> None:
    for source in functions.sources(READ.functions()):
        status, told = asked("GetEventSourceMapping", f"/2015-03-31/event-source-mappings/{source.uuid}")
        assert (status, told["State"], told["EventSourceArn"]) == (200, "Enabled", source.arn)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/2015-03-31/functions/another/configuration", "GET"),
        ("/2015-03-31/functions/lineage-adapter-HttpFunction", "GET"),
        ("/2015-03-31/functions/lineage-adapter-HttpFunction/configuration", "PUT"),
        ("/2015-03-31/event-source-mappings/00000000-0000-0000-0000-000000000000", "GET"),
    ],
)
def test_nothing_else_is_there(path: str, method: str) -> None:
    status, told = asked("GetFunctionConfiguration", path, method)
    assert (status, told["Error"]["Code"]) == (404, "ResourceNotFoundException")
