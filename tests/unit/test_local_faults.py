"""Faults happen as they were put, to the service they were put for."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.parsers import create_parser

from local.datazone.wire import FAILS_HEADER
from local.faults import Fault, Faults
from local.server import HangUp, Request, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

ASKED = Request("POST", "/", (), b"", "127.0.0.1")


def managed(faults: Faults, method: str, told: object = None) -> tuple[int, object]:
    answer = faults.manage(Request(method, "/_faults", (), json.dumps(told).encode(), "127.0.0.1"))
    return answer.status, json.loads(answer.body)


def tried(asked_of: str = "datazone", /, **fault: object) -> tuple[list[Request], Response]:
    """Give what reached the service and what was answered."""
    faults, reached = Faults(), list[Request]()
    assert managed(faults, "PUT", fault)[0] == 200

    def serve(request: Request) -> Response:
        reached.append(request)
        return Response(200, [], b"fine")

    return reached, faults.around(asked_of, ASKED, serve)


def test_put_shows_get_shows_and_delete_clears() -> None:
    faults = Faults()
    shown = managed(faults, "PUT", {"rate": 0.3, "status": 429})
    assert shown == managed(faults, "GET")
    assert shown[1]["datazone"]["status"] == 429  # type: ignore[index]  # JSON
    managed(faults, "PUT", {"service": "sqs", "status": 503})
    assert set(managed(faults, "GET")[1]) == {"datazone", "sqs"}  # type: ignore[call-overload]  # JSON
    assert managed(faults, "DELETE") == (200, {})
    assert managed(faults, "POST")[0] == 405


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"staus": 500}, "no such key: staus"),
        ({"status": 200}, "wrong value: status"),
        ({"status": True}, "wrong value: status"),
        ({"status": 500, "rate": 1.5}, "wrong value: rate"),
        ({"latency_ms": -1, "drop": "x"}, "wrong value: drop, latency_ms"),
        ({"domain_missing": 1}, "wrong value: domain_missing"),
        ({"rate": 0.5}, "a rate needs a status"),
        ([], "a JSON object"),
    ],
)
def test_nonsense_is_refused_by_name(told: object, complaint: str) -> None:
    faults = Faults()
    status, answer = managed(faults, "PUT", told)
    assert status == 400
    assert complaint in str(answer)
    assert managed(faults, "GET") == (200, {})


def test_what_is_no_json_is_refused() -> None:
    assert Faults().manage(Request("PUT", "/_faults", (), b"{", "127.0.0.1")).status == 400


def test_other_services_are_left_alone() -> None:
    reached, answer = tried("kinesis", status=500)
    assert (len(reached), answer.body) == (1, b"fine")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"status": 429}, "ThrottlingException"),
        ({"status": 503}, "ServiceUnavailable"),
        ({"status": 403}, "AccessDeniedException"),
        ({"status": 400, "code": "Odd"}, "Odd"),
        ({"domain_missing": True}, "ResourceNotFoundException"),
    ],
)
def test_a_status_is_answered_in_datazone_s_words_and_nothing_is_done(fault: Mapping[str, object], code: str) -> None:
    reached, answer = tried(**fault)
    assert reached == []
    assert answer.status == fault.get("status", 404)
    assert dict(answer.headers)["x-amzn-errortype"] == code
    assert json.loads(answer.body)["__type"] == code


def test_datazone_s_wish_to_wait_is_in_milliseconds() -> None:
    assert dict(tried(status=429, retry_after_ms=500)[1].headers)["x-amz-retry-after"] == "500"
    assert "x-amz-retry-after" not in dict(tried(status=429)[1].headers)


def test_s3_says_it_in_xml() -> None:
    _, answer = tried("s3", service="s3", status=503, code="SlowDown")
    assert answer.body.startswith(b"<Error><Code>SlowDown</Code>")


def test_a_rate_is_a_share() -> None:
    faults = Faults()
    managed(faults, "PUT", {"status": 500, "rate": 0.3})
    answers = [faults.around("datazone", ASKED, lambda _: Response(200, [], b"")).status for _ in range(2000)]
    assert 400 < answers.count(500) < 800


def test_a_connection_is_dropped_before_or_after_the_work() -> None:
    for fault, done in (({"drop": 1}, 0), ({"drop_after_accept": 1.0}, 1)):
        faults, reached = Faults(), list[Request]()
        managed(faults, "PUT", fault)

        def serve(request: Request, reached: list[Request] = reached) -> Response:
            reached.append(request)
            return Response(200, [], b"")

        with pytest.raises(HangUp):
            faults.around("datazone", ASKED, serve)
        assert len(reached) == done


def test_latency_delays_the_answer() -> None:
    started = time.monotonic()
    assert tried(latency_ms=50)[1].status == 200
    assert time.monotonic() - started >= 0.05


def test_an_event_s_processing_can_be_made_to_fail() -> None:
    reached, _ = tried(processing_fails=1.0)
    assert reached[0].header(FAILS_HEADER)


def test_no_fault_is_no_fault() -> None:
    reached, answer = tried()
    assert (reached, answer.status) == ([ASKED], 200)
    assert Fault() == Fault(status=None, rate=1.0)


def test_a_service_that_speaks_xml_fails_in_xml() -> None:
    _, response = tried("sts", service="sts", status=403, code="AccessDenied")
    told = {"status_code": response.status, "headers": dict(response.headers), "body": response.body}
    model = boto3.client("sts", "us-east-1").meta.service_model.operation_model("GetCallerIdentity")
    assert model.output_shape
    assert create_parser("query").parse(told, model.output_shape)["Error"]["Code"] == "AccessDenied"
