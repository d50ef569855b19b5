"""schemas/openapi.yaml says what the code does: its routes, its codes by status, its answers and what it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from adapter.batch import MAX_ELEMENTS
from adapter.doors import answers
from adapter.model import MAX_ERRORS, Cause, Code, Deferred, Delivered, Outcome, Rejected, Violation
from tests.contract.description import RUN_EVENT, described
from tests.unit.template.deployed import of_type

OPENAPI = described()
COMPONENTS = OPENAPI["components"]
RESPONSES = COMPONENTS["responses"]
POSTS = [path for path, operations in OPENAPI["paths"].items() if "post" in operations]
SINGLE = [path for path in POSTS if not path.endswith("/batch")]
PROBLEM = "application/problem+json"
TOKEN = "0" * 64
ERROR = Violation("/run/facets/007", "type", "must be an object")
KEY = f"quarantine/schema_violation/{TOKEN}.event"

_REGISTRY: Registry[Any] = Registry().with_resources(
    [
        ("urn:openapi", DRAFT202012.create_resource(OPENAPI)),
        ("urn:openlineage-2-0-2.json", DRAFT202012.create_resource(json.loads(RUN_EVENT.read_bytes()))),
    ]
)


def responses(path: str, method: str = "post") -> dict[str, Any]:
    """Give the responses of an operation by status, references followed."""
    named = OPENAPI["paths"][path][method]["responses"]
    return {status: RESPONSES[one["$ref"].rpartition("/")[2]] for status, one in named.items()}


def is_valid(schema: dict[str, Any], instance: object) -> bool:
    local = json.loads(json.dumps(schema).replace('"#/components', '"urn:openapi#/components'))
    return Draft202012Validator(local, registry=_REGISTRY).is_valid(instance)


def codes(response: dict[str, Any]) -> set[str]:
    """Give the codes that a problem of this response may have."""
    problem = response["content"].get(PROBLEM, {}).get("schema", {})
    return set(problem["properties"]["code"]["enum"]) if problem else set()


def test_the_paths_are_the_template_s() -> None:
    deployed = of_type("AWS::ApiGatewayV2::Api")["HttpApi"]["Body"]["paths"]
    routes = {(path, method) for path, methods in deployed.items() for method in methods if path != "$default"}
    assert {(path, method) for path, operations in OPENAPI["paths"].items() for method in operations} == routes


def test_whoever_posts_is_asked_for_a_token_and_health_is_not() -> None:
    assert {path for path in OPENAPI["paths"] if OPENAPI["paths"][path].get("get", {}).get("security") == []} == {
        "/health"
    }
    assert all(OPENAPI["paths"][path]["post"]["security"] == [{"bearer": []}] for path in POSTS)


@pytest.mark.parametrize("path", SINGLE)
def test_each_code_is_under_its_status(path: str) -> None:
    """Those of the model under the statuses they are answered with, and the door's own three."""
    expected: dict[str, set[str]] = {}
    for code, (status, _) in answers.STATUSES.items():
        if code is not Code.BACKLOG_UNREACHABLE:
            expected.setdefault(str(status), set()).add(code.value)
    expected |= {"405": {"method_not_allowed"}, "503": {"unavailable"}, "default": {"not_found"}}
    assert {status: codes(one) for status, one in responses(path).items() if codes(one)} == expected


def test_the_bounds_are_the_code_s() -> None:
    assert COMPONENTS["requestBodies"]["Batch"]["content"]["application/json"]["schema"]["maxItems"] == MAX_ELEMENTS
    assert COMPONENTS["schemas"]["Violations"]["maxItems"] == MAX_ERRORS
    assert COMPONENTS["headers"]["RetryAfter"]["schema"]["const"] == answers.RETRY_AFTER_SECONDS


OUTCOMES: list[Outcome] = [
    Delivered("abc123def456gh", "dzd_local", TOKEN),
    Delivered("abc123def456gh", "dzd_local", TOKEN, (ERROR,)),
    Deferred(Cause.TIMEOUT, TOKEN),
    Deferred(Cause.UNEXPECTED),
    *(Rejected(code, "why", (ERROR,), None, KEY) for code in answers.STATUSES if code is not Code.BACKLOG_UNREACHABLE),
]


@pytest.mark.parametrize("path", SINGLE)
@pytest.mark.parametrize("outcome", OUTCOMES, ids=repr)
def test_each_outcome_is_answered_as_described(path: str, outcome: Outcome) -> None:
    answer = answers.of(outcome)
    media = responses(path)[str(answer["statusCode"])]["content"][answer["headers"]["Content-Type"]]
    assert is_valid(media["schema"], json.loads(answer["body"]))
    assert not is_valid(media["schema"], json.loads(answer["body"]) | {"value": "of the event"})


def test_a_batch_and_a_503_are_answered_as_described() -> None:
    described_batch = responses("/api/v1/lineage/batch")
    several = json.loads(answers.of_batch([*OUTCOMES, None])["body"])
    assert is_valid(described_batch["200"]["content"]["application/json"]["schema"], several)
    away = answers.unavailable(TOKEN)
    assert is_valid(described_batch["503"]["content"][PROBLEM]["schema"], json.loads(away["body"]))
    assert set(away["headers"]) - {"Content-Type"} == set(described_batch["503"]["headers"])
    others = {
        status for path in POSTS for status, one in responses(path).items() if "Retry-After" in one.get("headers", {})
    }
    assert others == {"503"}


def test_the_examples_are_what_is_taken() -> None:
    event, batch = (COMPONENTS["requestBodies"][kind]["content"]["application/json"] for kind in ("Event", "Batch"))
    assert event["schema"]["$ref"] == f"{RUN_EVENT.name}#/$defs/RunEvent"
    schema = {"$ref": "urn:openlineage-2-0-2.json#/$defs/RunEvent"}
    assert is_valid(schema, event["example"])
    assert batch["example"] == [event["example"]]
    assert not is_valid(schema, {**event["example"], "job": None})
