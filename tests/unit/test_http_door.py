"""The HTTP contract, told to the door in API Gateway's words."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from adapter.doors import answers
from adapter.doors.http import BATCH_PATH, EVENT_PATHS, HttpDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Cause, Code, Deferred, FormatAssertion, Outcome, Rejected, RunEvent, Source
from tests.fakes import FakeBacklog, FakeLineage, FakeQuarantine, FakeTelemetry, Script, callers, delivered, run_event

Envelope = Callable[..., dict[str, Any]]


class Door:
    """A door on fakes, and a way to knock."""

    def __init__(self, script: Script = delivered, assertion: FormatAssertion = FormatAssertion.STRICT) -> None:
        self.lineage = FakeLineage(script)
        self.told = FakeTelemetry()
        self.quarantine = FakeQuarantine()
        self.backlog = FakeBacklog()
        ingest = Ingest(self.lineage, self.quarantine, self.told, assertion)
        self.door = HttpDoor(ingest, Lanes(ingest, 4, 2.0), self.backlog, callers())

    def knock(self, envelope: dict[str, Any]) -> tuple[int, dict[str, str], dict[str, Any]]:
        answer = self.door(envelope, None)
        assert answer["isBase64Encoded"] is False
        body = json.loads(answer["body"])
        assert body, "every answer has a body"
        return answer["statusCode"], answer["headers"], body

    def post(
        self, raw: bytes, path: str = "/api/v1/lineage", **headers: str
    ) -> tuple[int, dict[str, str], dict[str, Any]]:
        return self.knock(_v1(raw, path, headers))


def _v1(
    raw: bytes, path: str = "/api/v1/lineage", headers: dict[str, str] | None = None, method: str = "POST"
) -> dict[str, Any]:
    try:
        body, flagged = raw.decode(), False
    except UnicodeDecodeError:
        body, flagged = base64.b64encode(raw).decode(), True
    return {
        "version": "1.0",
        "httpMethod": method,
        "path": path,
        "headers": {name.replace("_", "-"): value for name, value in (headers or {}).items()},
        "body": body,
        "isBase64Encoded": flagged,
    }


def _v2(raw: bytes, path: str = "/api/v1/lineage", headers: dict[str, str] | None = None) -> dict[str, Any]:
    old = _v1(raw, path, headers)
    http = {"method": old["httpMethod"], "path": path}
    return {"version": "2.0", "rawPath": path, "requestContext": {"http": http}} | {
        key: old[key] for key in ("headers", "body", "isBase64Encoded")
    }


RAW = run_event()


@pytest.mark.parametrize("path", [*EVENT_PATHS, "/api/v1/lineage/", "/lineage/"])
@pytest.mark.parametrize("envelope", [_v1, _v2])
def test_an_event_is_delivered_through_every_path_and_format(path: str, envelope: Envelope) -> None:
    door = Door()
    status, headers, body = door.knock(envelope(RAW, path))
    assert status == 200
    assert headers == {"Content-Type": "application/json"}
    assert body == {
        "status": "delivered",
        "id": "abc123def456gh",
        "domainId": "dzd_local",
        "clientToken": door.lineage.given[0].client_token,
    }
    assert door.lineage.given[0].raw == RAW
    assert door.told.told[0][0].source is Source.HTTP
    assert door.told.flushed == 1


@pytest.mark.parametrize("envelope", [_v1, _v2])
@pytest.mark.parametrize("headers", [{}, {"Content_Encoding": "gzip"}, {"content_encoding": "GZIP"}])
def test_a_gzipped_event_arrives_unpacked(envelope: Envelope, headers: dict[str, str]) -> None:
    door = Door()
    status, _, _ = door.knock(envelope(gzip.compress(RAW), headers=headers))
    assert status == 200
    assert door.lineage.given[0].raw == RAW


def test_a_plain_body_may_come_as_base64() -> None:
    door = Door()
    envelope = _v1(RAW) | {"body": base64.b64encode(RAW).decode(), "isBase64Encoded": True}
    assert door.knock(envelope)[0] == 200
    assert door.lineage.given[0].raw == RAW


def test_what_failed_in_datazone_is_replayed_under_a_token_of_its_own() -> None:
    """Under its first token DataZone would answer with what it has. Each failure has one other, however often tried."""
    door = Door()
    failures = ["abc123def456gh", "abc123def456gh", "zzz123def456gh"]
    door.post(RAW)
    for failure in failures:
        door.post(RAW, Lineage_Replays=failure)
    first, second, again, another = (event.client_token for event in door.lineage.given)
    assert first != second == again != another != first
    assert {event.raw for event in door.lineage.given} == {RAW}


@pytest.mark.parametrize("claimed", ["", "abc", "ABC123DEF456GH", "abc123def456gh\n", "abc123def456g\u0660"])
def test_what_is_no_id_of_datazones_is_not_replayed(claimed: str) -> None:
    door = Door()
    door.post(RAW)
    door.post(RAW, Lineage_Replays=claimed)
    assert door.lineage.given[0] == door.lineage.given[1]


def test_a_replay_that_has_to_wait_is_still_one() -> None:
    door = Door(lambda event: Deferred(Cause.UNAVAILABLE, event.client_token))
    status, _, body = door.post(RAW, Lineage_Replays="abc123def456gh")
    ((kept, token),) = door.backlog.put_in
    assert (status, kept.replays) == (202, "abc123def456gh")
    assert body["clientToken"] == token == door.lineage.given[0].client_token


def test_a_body_that_is_not_the_base64_it_claims_is_no_json() -> None:
    assert Door().knock(_v1(RAW) | {"body": "%%%", "isBase64Encoded": True})[2]["code"] == "not_json"


def test_half_a_surrogate_pair_in_the_envelope_is_not_utf8() -> None:
    assert Door().knock(_v1(RAW) | {"body": '{"a": "\ud800"}'})[2]["code"] == "not_utf8"


@pytest.mark.parametrize("body", [None, ""])
def test_no_body_is_no_json(body: str | None) -> None:
    envelope = _v1(RAW) | {"body": body, "headers": None}
    assert Door().knock(envelope)[2]["code"] == "not_json"


@pytest.mark.parametrize(
    ("raw", "headers", "status", "code"),
    [
        (b"\xff", {}, 400, Code.NOT_UTF8),
        (b"{", {}, 400, Code.NOT_JSON),
        (b'{"a": 1, "a": 1}', {}, 400, Code.DUPLICATE_KEY),
        (b"[" * 40_000 + b"]" * 40_000, {}, 400, Code.TOO_DEEP),
        (b"[]", {}, 400, Code.NOT_AN_OBJECT),
        (run_event(x="x" * 300_000), {}, 413, Code.TOO_LARGE),
        (RAW, {"Content_Encoding": "br"}, 415, Code.UNSUPPORTED_ENCODING),
        (b"\x1f\x8b\x08 torn", {}, 415, Code.UNSUPPORTED_ENCODING),
        (gzip.compress(b" " * 7_000_000), {}, 413, Code.TOO_LARGE),
        (b'{"job": {}}', {}, 422, Code.UNSUPPORTED_KIND),
        (b'{"run": {}}', {}, 422, Code.SCHEMA_VIOLATION),
    ],
)
def test_a_refused_event_is_a_problem_with_its_status(
    raw: bytes, headers: dict[str, str], status: int, code: Code
) -> None:
    """RFC 9457, and never a Retry-After: the Python client would resend a 413 that has one."""
    door = Door()
    answered, said, body = door.post(raw, **headers)
    assert answered == body["status"] == status
    assert said == {"Content-Type": "application/problem+json"}
    assert body["code"] == code
    assert body["type"] == f"urn:lineage-adapter:problem:{code}"
    assert {"title", "detail", "errors"} <= set(body)
    assert door.lineage.given == []
    assert body["quarantineKey"] == f"quarantine/{code}/x.event"
    ((kept, recorded),) = door.quarantine.kept
    assert (kept.raw, recorded.code) == (raw, code)
    assert len(door.told.told) == 1


def test_every_code_has_a_status() -> None:
    assert set(answers.STATUSES) == set(Code) - {Code.FAILED_IN_DATAZONE}


def test_errors_are_pointer_rule_and_message() -> None:
    _, _, body = Door().post(run_event(eventTime="SECRET"))
    (error,) = body["errors"]
    assert (error["path"], error["rule"]) == ("/eventTime", "format")
    assert error["message"]
    assert "SECRET" not in json.dumps(body)


def _refusing(_: RunEvent) -> Outcome:
    return Rejected(Code.REFUSED_BY_DATAZONE, "DataZone refused the event")


def test_what_datazone_refuses_is_the_emitter_s_to_know() -> None:
    status, _, body = Door(_refusing).post(RAW)
    assert (status, body["code"]) == (422, "refused_by_datazone")


def _waiting(event: RunEvent) -> Outcome:
    return Deferred(Cause.THROTTLED, event.client_token)


def test_an_event_that_has_to_wait_waits_in_the_backlog() -> None:
    door = Door(_waiting)
    status, headers, body = door.post(RAW)
    assert (status, body["status"]) == (202, "deferred")
    assert len(body["clientToken"]) == 64
    assert "Retry-After" not in headers
    ((kept, token),) = door.backlog.put_in
    assert (kept.raw, token) == (RAW, body["clientToken"])
    assert door.quarantine.kept == []


def test_where_the_backlog_is_away_the_quarantine_is_the_last_shelter() -> None:
    door = Door(_waiting)
    door.backlog.away = True
    status, _, body = door.post(RAW)
    assert (status, body["status"]) == (202, "deferred")
    ((kept, rejected),) = door.quarantine.kept
    assert (kept.raw, rejected.code) == (RAW, Code.BACKLOG_UNREACHABLE)


def test_a_refused_event_that_cannot_be_quarantined_waits_in_the_backlog() -> None:
    door = Door()
    door.quarantine.away = True
    status, _, body = door.post(b"{bad")
    assert (status, body) == (202, {"status": "deferred"})
    assert door.backlog.put_in[0][0].raw == b"{bad"


@pytest.mark.parametrize("raw", [RAW, b"{bad"])
def test_an_event_that_nothing_could_take_is_to_be_sent_again(raw: bytes) -> None:
    """503 with Retry-After is the one answer on which every client resends."""
    door = Door(_waiting)
    door.backlog.away = door.quarantine.away = True
    status, headers, body = door.post(raw)
    assert status == 503
    assert headers["Retry-After"] == "2"
    assert body["code"] == "unavailable"
    assert len(body.get("clientToken", "")) == (64 if raw == RAW else 0)
    assert [one.raw for one in door.told.lost] == [raw]


def test_no_shelter_is_sought_when_the_client_is_about_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    door = Door(_waiting)
    monkeypatch.setattr("adapter.doors.http.ANSWER_SECONDS", 0.0)
    assert door.post(RAW)[0] == 503
    assert door.backlog.put_in == []


@pytest.mark.parametrize(
    "envelope", [{}, {"version": "2.0"}, {"httpMethod": "POST", "path": None}, _v1(RAW) | {"body": 7}]
)
def test_what_is_no_envelope_is_to_be_sent_again(envelope: dict[str, Any]) -> None:
    door = Door()
    status, headers, _ = door.knock(envelope)
    assert (status, headers["Retry-After"]) == (503, "2")
    assert len(door.told.faults) == 1


def test_what_nobody_foresaw_keeps_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    door = Door()
    monkeypatch.setattr("adapter.doors.http.opened", broken)
    squeezed = gzip.compress(RAW)
    status, _, _ = door.post(squeezed)
    assert status == 202
    assert door.backlog.put_in[0][0].raw == squeezed
    assert [type(fault) for fault in door.told.faults] == [ZeroDivisionError]
    assert door.told.flushed == 1


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api/v1", "/api/v1/lineage/x", "/API/V1/LINEAGE", "/prod/api/v1/lineage"]
)
def test_another_path_is_not_found_and_never_redirected(path: str) -> None:
    """The Java client turns a redirected POST into an empty GET and counts it as a success."""
    status, headers, body = Door().post(RAW, path)
    assert (status, body["code"]) == (404, "not_found")
    assert "Location" not in headers


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/api/v1/lineage", "POST"),
        ("PUT", "/", "POST"),
        ("GET", BATCH_PATH, "POST"),
        ("POST", "/health", "GET"),
    ],
)
def test_another_method_is_not_allowed(method: str, path: str, allow: str) -> None:
    status, headers, body = Door().knock(_v1(RAW, path, method=method))
    assert (status, body["code"], headers["Allow"]) == (405, "method_not_allowed", allow)


def _rest(raw: bytes, path: str, method: str = "POST") -> dict[str, Any]:
    """As a REST API on its stage `api` sends it: no version, and the stage in the context's path only."""
    event = _v1(raw, path.removeprefix("/api"), method=method) | {"requestContext": {"path": path, "stage": "api"}}
    del event["version"]
    return event


@pytest.mark.parametrize("path", ["/api/v1/lineage", "/api/v1/lineage/"])
def test_behind_a_rest_api_the_stage_is_part_of_the_path(path: str) -> None:
    assert Door().knock(_rest(RAW, path))[0] == 200


def test_behind_a_rest_api_a_batch_and_health_are_where_they_should_be() -> None:
    assert Door().knock(_rest(b"[" + RAW + b"]", BATCH_PATH))[0] == 200
    assert Door().knock(_rest(b"", "/api/health", "GET"))[0] == 200
    assert Door().knock(_rest(b"", "/api/nowhere", "GET"))[0] == 404


def test_health_is_ok() -> None:
    status, _, body = Door().knock(_v1(b"", "/health", method="GET"))
    assert (status, body) == (200, {"status": "ok"})


def test_warnings_come_with_the_answer() -> None:
    door = Door(assertion=FormatAssertion.WARN)
    _, _, body = door.post(run_event(eventTime="2026-11-29T10:00:00"))
    assert body["status"] == "delivered"
    assert [(one["path"], one["rule"]) for one in body["warnings"]] == [("/eventTime", "format")]


def test_a_batch_is_judged_one_by_one_and_each_element_keeps_its_bytes() -> None:
    def script(event: RunEvent) -> Outcome:
        return _waiting(event) if event.run_id.endswith("3") else delivered(event)

    door = Door(script)
    spaced = RAW.replace(b", ", b" ,\n")
    accented = run_event(2, name="\u00e9\u00e8")
    batch = b"[" + spaced + b", {bad}, " + accented + b' , {"job": {}}, ' + run_event(3) + b"]"
    status, headers, body = door.post(batch, BATCH_PATH)
    assert status == 200
    assert headers == {"Content-Type": "application/json"}
    assert body == {
        "status": "partial_success",
        "summary": {"received": 5, "successful": 3, "failed": 2, "retriable": 0, "non_retriable": 2},
        "failed_events": [
            {"index": 1, "reason": "not_json: not JSON at line 1, column 2", "retriable": False},
            {"index": 3, "reason": "unsupported_kind: a JobEvent; DataZone takes run events only", "retriable": False},
        ],
    }
    assert {event.raw for event in door.lineage.given} == {spaced, accented, run_event(3)}
    assert [one.raw for one, _ in door.backlog.put_in] == [run_event(3)]
    assert sorted(one.raw for one, _ in door.quarantine.kept) == [b'{"job": {}}', b"{bad}"]
    assert {received.source for received, _, _ in door.told.told} == {Source.BATCH}


def test_an_element_that_nothing_took_is_retriable() -> None:
    door = Door(_waiting)
    door.backlog.away = door.quarantine.away = True
    status, _, body = door.post(b"[" + RAW + b"]", BATCH_PATH)
    assert status == 200
    assert body["summary"] == {"received": 1, "successful": 0, "failed": 1, "retriable": 1, "non_retriable": 0}
    assert body["failed_events"] == [{"index": 0, "reason": "unavailable", "retriable": True}]


@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
def test_a_batch_that_went_well_says_so(squeeze: Callable[[bytes], bytes]) -> None:
    _, _, body = Door().post(squeeze(b"[" + RAW + b"]"), BATCH_PATH)
    assert body == {
        "status": "success",
        "summary": {"received": 1, "successful": 1, "failed": 0, "retriable": 0, "non_retriable": 0},
        "failed_events": [],
    }


def test_an_empty_batch_is_a_success() -> None:
    assert Door().post(b"[]", BATCH_PATH)[2]["summary"]["received"] == 0


@pytest.mark.parametrize(
    ("raw", "headers", "status", "code"),
    [
        (RAW, {}, 400, "not_an_object"),
        (b"[1", {}, 400, "not_an_object"),
        (b"[" + b"1," * 1_000 + b"1]", {}, 413, "too_large"),
        (b"\x1f\x8b\x08", {}, 415, "unsupported_encoding"),
        (b"[]", {"Content_Encoding": "br"}, 415, "unsupported_encoding"),
    ],
)
def test_what_is_no_batch_is_refused_whole(raw: bytes, headers: dict[str, str], status: int, code: str) -> None:
    door = Door()
    answered, _, body = door.post(raw, BATCH_PATH, **headers)
    assert (answered, body["code"]) == (status, code)
    assert len(door.told.told) == 1
