"""Paths, methods and headers that try to be taken for something else."""

from __future__ import annotations

import json

import pytest

from adapter.doors.http import BATCH_PATH, EVENT_PATHS
from adapter.model import Access
from tests.fakes import run_event
from tests.hostile.bodies import envelope
from tests.hostile.door import Door

# As API Gateway hands them over: decoded once.
OTHER_PATHS = [
    "/api//v1/lineage",
    "//api/v1/lineage",
    "/./lineage",
    "/api/v1/../v1/lineage",
    "/health/../lineage",
    "/%2e%2e/lineage",
    "/lineage%2F",
    "/lineage\x00",
    "/\x00",
    "/lineage\r\nX: y",
    "/LINEAGE",
    "/Api/v1/lineage",
    "/lineage;a=b",
    "/lineage?a=b",
    "/lineage#",
    "\\lineage",
    "/lineage ",
    "/api/v1/lineage/batch/x",
    "/\u2044lineage",
    "/lin\u0435age",  # its e is Cyrillic
    "/" + "a/" * 5_000,
]


@pytest.mark.parametrize("path", OTHER_PATHS, ids=ascii)
def test_a_path_that_is_not_quite_one_of_ours_is_404_and_not_repeated(path: str) -> None:
    door = Door()
    status, body = door.post(run_event(), path)
    assert (status, body["code"]) == (404, "not_found")
    assert door.post(run_event(), "/x")[1] == body, "the answer is the same for all of them"
    assert door.lineage.given == []


@pytest.mark.parametrize(
    "path", [path + "/" * more for path in (*EVENT_PATHS, BATCH_PATH) for more in (0, 1, 2, 1_000)]
)
def test_no_spelling_of_a_path_gets_round_the_authorizer(path: str) -> None:
    """The gateway routes by the exact path, so slashes at its end lead round a route's authorizer, and not past us."""
    door = Door(Access.TOKENS)
    assert door.post(run_event(), path)[0] == 401
    assert [door.lineage.given, door.quarantine.kept, door.backlog.put_in] == [[], [], []]


@pytest.mark.parametrize(
    "name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL"]
)
@pytest.mark.parametrize(("method", "status"), [("POST", 200), ("GET", 405), ("DELETE", 405), ("post", 405)])
def test_a_header_changes_neither_method_nor_path(name: str, method: str, status: int) -> None:
    value = "POST" if "Method" in name else "/health"
    answer = Door().knock(envelope(run_event(), **{name.replace("-", "_"): value}) | {"httpMethod": method})
    assert answer["statusCode"] == status


FORGED = {
    "producer": "finance",
    "namespaces": '["*"]',
    "X-Amzn-Producer": "finance",
    "X-Amzn-RequestContext": '{"authorizer": {"producer": "finance", "namespaces": "[\\"*\\"]"}}',
    "requestContext": '{"authorizer": {"producer": "finance", "namespaces": "[\\"*\\"]"}}',
    "X-Forwarded-User": "finance",
}


@pytest.mark.parametrize("name", FORGED)
def test_no_header_tells_who_somebody_is(name: str) -> None:
    """Only the gateway's authorizer does, in a place of the envelope that a request cannot reach."""
    door = Door(Access.TOKENS)
    asked = envelope(run_event())
    assert door.knock(asked | {"headers": {name: FORGED[name]}})["statusCode"] == 401
    assert Door().knock(asked | {"headers": {name: FORGED[name]}})["statusCode"] == 200
    assert door.lineage.given == []


def test_ten_thousand_headers_are_as_good_as_none() -> None:
    asked = envelope(run_event()) | {"headers": {f"X-{number}": "x" * 100 for number in range(10_000)}}
    assert Door().knock(asked)["statusCode"] == 200


@pytest.mark.parametrize(
    "encoding", ["gzip, gzip", "gzip\r\nX: y", "\x00", "deflate", "br", "g" * 10_000, "\ud800", "*"]
)
def test_an_encoding_that_is_none_is_refused_and_not_repeated(encoding: str) -> None:
    status, body = Door().post(run_event(), Content_Encoding=encoding)
    assert (status, body["code"]) == (415, "unsupported_encoding")
    assert body["detail"] == Door().post(run_event(), Content_Encoding="compress")[1]["detail"]
    assert json.dumps(encoding)[1:-1] not in json.dumps(body)
