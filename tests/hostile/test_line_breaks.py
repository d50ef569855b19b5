"""CR, LF and their like reach no line of a log, no metric, no header and no key as what they are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from adapter import backlog
from adapter.doors.http import BATCH_PATH
from adapter.model import Access, Cause, Deferred, FormatAssertion, Outcome, Received, RunEvent
from adapter.telemetry import Telemetry
from local.console import rendered
from tests.fakes import TIMES, run_event
from tests.hostile.bodies import envelope
from tests.hostile.door import Door

if TYPE_CHECKING:
    from collections.abc import Iterator

FORGERY = '{"level":"INFO","message":"event","outcome":"delivered","door":"http"}'
BREAKS = ["\r\n", "\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1b[2J", "\x00", "\ud800"]
PLACES = [("job", "namespace"), ("job", "name"), ("run", "runId"), ("producer",), ("eventType",), ("eventTime",)]


@pytest.fixture(autouse=True)
def _named(monkeypatch: pytest.MonkeyPatch) -> None:
    # A logger keeps the output it was made with, and there is one to a name.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", str(uuid4()))
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "hostile")


def _with(place: tuple[str, ...], value: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(run_event())
    *way, last = place
    holder = event
    for step in way:
        holder = holder[step]
    holder[last] = value
    return event


def _waiting(event: RunEvent) -> Outcome:
    return Deferred(Cause.THROTTLED, event.client_token)


def _lines(printed: str) -> Iterator[dict[str, Any]]:
    assert printed.isascii()
    assert set(re.findall(r"[^ -~]", printed)) <= {"\n"}
    for line in printed.removesuffix("\n").split("\n"):
        entry = json.loads(line)
        assert isinstance(entry, dict)
        yield entry


@pytest.mark.parametrize("place", PLACES, ids="/".join)
@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
def test_in_an_event_they_forge_no_line_and_no_key(
    mark: str, place: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    value = f"a{mark}{FORGERY}{mark}b"
    raw = json.dumps(_with(place, value)).encode()
    for assertion in FormatAssertion:
        door = Door(records=Telemetry(), script=_waiting, assertion=assertion)
        answers = [door.knock(envelope(raw)), door.knock(envelope(b"[" + raw + b"]", BATCH_PATH))]
        for answer in answers:
            assert re.fullmatch("[ -~]*", json.dumps(answer["headers"]) + answer["body"])
        lines = list(_lines(capsys.readouterr().out))
        events = [line for line in lines if line.get("message") == "event"]
        assert len(events) == 2
        assert {line["outcome"] for line in events} <= {"rejected", "deferred"}
        for received, token in door.backlog.put_in:
            assert re.fullmatch("[ -~]*", backlog.message(received, token))
        for line in events:
            shown = rendered("HttpFunction", json.dumps(line)) or ""
            assert shown.isprintable(), "and none reaches the terminal"


@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
@pytest.mark.parametrize("name", ["User-Agent", "Content-Encoding", "X-Request-Id", "Authorization", "Lineage-Replays"])
def test_in_a_header_or_path_they_reach_nothing(mark: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    value = f"a{mark}{FORGERY}"
    door = Door(Access.OPEN, records=Telemetry())
    asked = envelope(run_event()) | {"headers": {name: value, value: "x"}}
    context = {"requestContext": {"requestId": value, "identity": {"userAgent": value}}}
    for envelope_ in (asked, asked | {"path": f"/{value}"}, asked | context, asked | {"httpMethod": value}):
        answer = door.knock(envelope_)
        assert "outcome" not in answer["body"]
        assert re.fullmatch("[ -~]*", json.dumps(answer["headers"]) + answer["body"])
    printed = capsys.readouterr().out
    assert "forge" not in printed
    assert sum(line.get("message") == "event" for line in _lines(printed)) == 2
    assert value.encode("utf-8", "surrogatepass") not in printed.encode()


@pytest.mark.parametrize("mark", BREAKS, ids=ascii)
def test_what_a_backlog_message_says_of_itself_forges_nothing(mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever may write to the queue may say anything in it."""
    said = json.loads(backlog.message(Received(run_event(), source="http"), "t"))  # type: ignore[arg-type]  # as SQS
    received = backlog.received(json.dumps(said | {"producer": f"a{mark}{FORGERY}"}))
    Telemetry().event(received, None, Deferred(Cause.THROTTLED), TIMES)
    assert len(list(_lines(capsys.readouterr().out))) == 1
