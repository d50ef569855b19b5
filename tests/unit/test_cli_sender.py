from __future__ import annotations

import gzip
import ssl
from dataclasses import dataclass, field
from socket import gaierror
from typing import TYPE_CHECKING

import httpx
import pytest

from cli.sender import DELAYS, Sender, StopError
from cli.sources import Item
from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "https://adapter.example/api/v1/lineage"
RAW = b'{"b": 1,\r\n "a": 2}\n'
ITEM = Item("x.json", RAW)
DELIVERED = httpx.Response(200, json={"status": "delivered"})
NOT_FOUND = httpx.Response(404, text="nothing here")


def _problem(status: int, code: str, **headers: str) -> httpx.Response:
    body = {"type": f"urn:lineage-adapter:problem:{code}", "code": code, "errors": []}
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def _not_now(**headers: str) -> httpx.Response:
    return _problem(503, "unavailable", **headers)


@dataclass
class Line:
    """An adapter that answers in turn, or breaks the line; the last answer is repeated."""

    answers: list[httpx.Response | Exception]
    requests: list[httpx.Request] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    halted: bool = False

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        return self.halted

    def sender(self, *, compress: bool = False) -> Sender:
        client = httpx.Client(transport=httpx.MockTransport(self.answer))
        return Sender(client, URL, self.notes.append, self.wait, compress=compress)


def test_the_exact_bytes_are_posted_as_json() -> None:
    line = Line([DELIVERED])
    assert line.sender().send(ITEM) == Verdict(Outcome.DELIVERED, 200)
    [request] = line.requests
    assert (request.method, str(request.url), request.content) == ("POST", URL, RAW)
    assert request.headers["Content-Type"] == "application/json"
    assert "Content-Encoding" not in request.headers


def test_compressed_they_are_the_same_bytes() -> None:
    line = Line([DELIVERED])
    line.sender(compress=True).send(ITEM)
    [request] = line.requests
    assert request.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(request.content) == RAW


@pytest.mark.parametrize(
    "trouble",
    [
        _not_now(),
        httpx.Response(500, json={"message": "Internal Server Error"}),
        httpx.Response(502),
        httpx.Response(429),
        httpx.ReadTimeout(""),
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("disconnected"),
    ],
    ids=repr,
)
def test_not_now_is_sent_again_a_little_later_each_time(trouble: httpx.Response | Exception) -> None:
    line = Line([trouble, trouble, trouble, DELIVERED])
    assert line.sender().send(ITEM).outcome is Outcome.DELIVERED
    assert [request.content for request in line.requests] == [RAW] * 4
    assert line.waits == list(DELAYS[:3])
    assert len(line.notes) == 3


def test_retry_after_is_honoured_up_to_a_minute() -> None:
    """In seconds; its form as a date, or anything else, leaves the usual waits."""
    asked = ["7", "1", "3600", "Mon, 30 Nov 2026 10:00:00 GMT", "-5"]
    line = Line([*(_not_now(Retry_After=value) for value in asked), DELIVERED])
    line.sender().send(ITEM)
    assert line.waits == [7, 1, 60, 4, 8]


def test_a_refusal_is_not_sent_again() -> None:
    line = Line([_problem(422, "schema_violation", Retry_After="1"), DELIVERED])
    assert line.sender().send(ITEM) == Verdict(Outcome.REJECTED, 422, "schema_violation")
    assert not line.waits


@pytest.mark.parametrize(
    ("trouble", "verdict"),
    [
        (_not_now(), Verdict(Outcome.FAILED, 503, "unavailable")),
        (httpx.Response(504), Verdict(Outcome.FAILED, 504, "no_answer")),
        (httpx.ReadTimeout(""), Verdict(Outcome.FAILED, code="timeout")),
        (httpx.ConnectError(""), Verdict(Outcome.FAILED, code="unreachable")),
    ],
    ids=repr,
)
def test_an_event_nobody_takes_has_failed_after_six_tries(
    trouble: httpx.Response | Exception, verdict: Verdict
) -> None:
    """Once the adapter is known to be there; before that, the replay stops."""
    line = Line([DELIVERED, trouble])
    sender = line.sender()
    sender.send(ITEM)
    assert sender.send(ITEM) == verdict
    assert len(line.requests) == 1 + 6
    stopped = Line([trouble])
    with pytest.raises(StopError, match=r"nothing at https://adapter\.example/api/v1/lineage takes events"):
        stopped.sender().send(ITEM)
    assert len(stopped.requests) == 6


def test_nothing_is_sent_again_once_the_replay_halts() -> None:
    line = Line([DELIVERED, _not_now()], halted=True)
    sender = line.sender()
    sender.send(ITEM)
    assert sender.send(ITEM).outcome is Outcome.FAILED
    assert len(line.requests) == 2


def test_an_answer_of_something_else_stops_at_once_but_not_in_the_middle() -> None:
    """Before the adapter has answered it is the URL; after that it is one event's bad luck."""
    with pytest.raises(StopError, match="answers 404, and not as the adapter does; check --url"):
        Line([NOT_FOUND]).sender().send(ITEM)
    line = Line([DELIVERED, NOT_FOUND])
    sender = line.sender()
    sender.send(ITEM)
    assert sender.send(ITEM) == Verdict(Outcome.FAILED, 404, "unexpected_answer")
    assert not line.waits


def test_a_redirect_is_not_followed() -> None:
    """It would turn the POST into a GET and lose the event."""
    line = Line([httpx.Response(301, headers={"Location": "https://elsewhere.example/"})])
    with pytest.raises(StopError, match="301"):
        line.sender().send(ITEM)
    assert len(line.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_refused_credentials_stop_the_replay_also_in_the_middle(status: int) -> None:
    line = Line([DELIVERED, httpx.Response(status, json={"message": "no"})])
    sender = line.sender()
    sender.send(ITEM)
    with pytest.raises(StopError, match="LINEAGE_ADAPTER_API_KEY"):
        sender.send(ITEM)


def _caused(cause: Exception) -> httpx.ConnectError:
    error = httpx.ConnectError("")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "says"),
    [
        (lambda: gaierror(-2, "Name or service not known"), r"no such host: adapter\.example"),
        (
            lambda: ssl.SSLCertVerificationError(1, "self-signed certificate"),
            r"not trusted \(.*self-signed.*SSL_CERT_FILE",
        ),
        (lambda: ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"), r"does not speak TLS.*http://"),
    ],
)
def test_a_host_that_trying_again_will_not_help_stops_at_once(cause: Callable[[], Exception], says: str) -> None:
    """As long as it has never answered: later, even a name service has its bad moments."""
    line = Line([_caused(cause())])
    with pytest.raises(StopError, match=says):
        line.sender().send(ITEM)
    assert not line.waits
    later = Line([DELIVERED, _caused(cause()), DELIVERED])
    sender = later.sender()
    sender.send(ITEM)
    assert sender.send(ITEM).outcome is Outcome.DELIVERED
