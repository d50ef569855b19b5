from __future__ import annotations

import json

import pytest

from adapter.doors import answers
from adapter.model import Cause, Code, Deferred, Delivered, Rejected, Violation
from cli.verdict import Outcome, Verdict, read

VIOLATIONS = (Violation("/run/runId", "format", "must be a uuid"), Violation("/job", "type", "must be an object"))


def _read(answer: answers.Answer) -> Verdict | None:
    return read(answer["statusCode"], answer["body"].encode())


def test_delivered_and_deferred_are_read_from_the_doors_own_answers() -> None:
    assert _read(answers.of(Delivered("id", "dzd_local", "token"))) == Verdict(Outcome.DELIVERED, 200)
    assert _read(answers.of(Deferred(Cause.THROTTLED, "token"))) == Verdict(Outcome.DEFERRED, 202)


@pytest.mark.parametrize("code", [code for code, (status, _) in answers.STATUSES.items() if status >= 400])
def test_each_refusal_is_read_with_its_status_code_and_first_path(code: Code) -> None:
    status = answers.STATUSES[code][0]
    assert _read(answers.of(Rejected(code, "", VIOLATIONS))) == Verdict(Outcome.REJECTED, status, code, "/run/runId")
    assert _read(answers.of(Rejected(code, ""))) == Verdict(Outcome.REJECTED, status, code)


def test_an_event_kept_in_quarantine_for_want_of_a_backlog_is_taken() -> None:
    """The adapter answers 202 with a problem: its sender is done."""
    answer = answers.problem(202, "backlog_unreachable", "The event is kept", "")
    assert _read(answer) == Verdict(Outcome.DEFERRED, 202, "backlog_unreachable")


def test_not_now_is_no_refusal() -> None:
    assert _read(answers.unavailable()) == Verdict(Outcome.FAILED, 503, "unavailable")


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_gateway_in_front_says_not_now_in_its_own_words(status: int) -> None:
    assert read(status, b'{"message": "Service Unavailable"}') == Verdict(Outcome.FAILED, status, "no_answer")


def test_the_gateway_refuses_what_is_larger_than_itself() -> None:
    too_large = Verdict(Outcome.REJECTED, 413, "too_large")
    assert read(413, b'{"message": "Request Entity Too Large"}') == too_large


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b""),
        (200, b"<html>welcome</html>"),
        (200, b'{"status": "ok"}'),
        (200, b'["delivered"]'),
        (200, b"[" * 100_000),
        (200, b"\xff"),
        (201, b'{"status": "delivered"}'),
        (202, b"{}"),
        (204, b""),
        (302, b""),
        (400, b'{"code": "schema_violation"}'),
        (400, b'{"type": "urn:lineage-adapter:problem:x", "code": 7}'),
        (401, b'{"message": "Unauthorized"}'),
        (403, b'{"message": "Forbidden"}'),
        (404, b'{"type": "urn:lineage-adapter:problem:not_found", "code": "not_found"}'),
    ],
)
def test_what_is_not_of_the_contract_is_no_verdict(status: int, body: bytes) -> None:
    """Above all not a delivery: a web server that answers 200 to anything would lose every event."""
    assert read(status, body) is None


@pytest.mark.parametrize("errors", [None, [], [None], [{}], [{"path": 7}], {"path": "/x"}])
def test_a_refusal_without_a_readable_error_has_no_path(errors: object) -> None:
    body = {"type": "urn:lineage-adapter:problem:not_json", "code": "not_json", "errors": errors}
    assert read(400, json.dumps(body).encode()) == Verdict(Outcome.REJECTED, 400, "not_json")


def test_a_verdict_is_a_line() -> None:
    assert str(Verdict(Outcome.REJECTED, 422, "schema_violation", "/job")) == "rejected, 422 schema_violation at /job"
    assert str(Verdict(Outcome.FAILED, code="timeout")) == "failed, timeout"
    assert str(Verdict(Outcome.DELIVERED)) == "delivered"
