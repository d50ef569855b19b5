"""The contract with the Python client: what its real transports make of every answer and URL, and of our bad days."""

from __future__ import annotations

import json
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.emitters import page
from tests.emitters.ledger import Ledger
from tests.emitters.recorder import HANG_UP, Answer, Recorder, passing, recording
from tests.integration.running import start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.emitters.environments import Environment
    from tests.emitters.recorder import Answering, Asked
    from tests.integration.running import Running

EXECUTOR = Path(__file__).parent / "executor"
TRANSPORTS = ("http", "async_http")
ANSWERS = page.table("python", "What it makes of each answer")
URLS = page.table("python", "What it makes of the URL")
# A client gives up on an answer after five seconds.
SLOW_SECONDS = 6.0
REFUSED = Answer(503, {"Retry-After": "2"}, b'{"status": 503, "code": "unavailable"}')


@dataclass(frozen=True, slots=True)
class Emitted:
    """One event as the client serialised it, what the program saw, and how long it took."""

    event: bytes
    seen: str
    seconds: float


@pytest.fixture(scope="module")
def client(install: Callable[[str], Environment]) -> Environment:
    return install("executor")


def emit(client: Environment, cases: Sequence[dict[str, Any]], cwd: Path) -> list[Emitted]:
    """Emit an event for each case, side by side, in one program."""
    output = client.run("python", str(EXECUTOR / "emit.py"), json.dumps(cases), cwd=cwd)
    results = json.loads(output.splitlines()[-1])
    return [Emitted(one["event"].encode(), one["seen"], one["seconds"]) for one in results]


def slowly(_: Asked) -> Answer:
    time.sleep(SLOW_SECONDS)
    return Answer(200)


def always(answer: Answer) -> Answering:
    return lambda _: answer


def scripted(answer: str) -> Answering:
    """Answer as a row of the page's table says."""
    first, *_ = answer.split(",")
    firsts: dict[str, Answering] = {
        "none in 5 seconds": slowly,
        "none": always(HANG_UP),
        "503": always(REFUSED),
        "503 always": always(REFUSED),
    }
    before = threading.Event()

    def answering(asked: Asked) -> Answer:
        again = before.is_set()
        before.set()
        if again and answer.endswith("then 200"):
            return Answer(200)
        return firsts[first](asked) if first in firsts else Answer(int(first))

    return answering


@pytest.fixture(scope="module")
def seen(client: Environment, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """Give all answers to both transports, at the same time; what was emitted and recorded, by answer and transport."""
    keys = [(answer, transport) for answer, *_ in ANSWERS for transport in TRANSPORTS]
    with ExitStack() as stack:
        recorders = [stack.enter_context(recording(scripted(answer))) for answer, _ in keys]
        cases = [{"transport": {"type": key[1], "url": one.url}} for key, one in zip(keys, recorders, strict=True)]
        emitted = emit(client, cases, tmp_path_factory.mktemp("seen"))
    return dict(zip(keys, zip(emitted, recorders, strict=True), strict=True))


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: row[0])
def test_each_answer_does_what_the_page_says(
    seen: dict[tuple[str, str], tuple[Emitted, Recorder]], row: list[str], transport: str
) -> None:
    """And each time the event is sent, its bytes are the same, so its token is."""
    emitted, recorder = seen[row[0], transport]
    assert f"{emitted.seen} ({len(recorder.asked)})" == row[1 + TRANSPORTS.index(transport)]
    assert {asked.event for asked in recorder.asked} == {emitted.event}


def test_a_url_is_what_the_page_says(client: Environment, tmp_path: Path) -> None:
    with recording(lambda _: Answer(200)) as recorder:
        for url, endpoint, path in URLS:
            shape = {"url": url.replace("https://host", recorder.url), **({"endpoint": endpoint} if endpoint else {})}
            emit(client, [{"transport": {"type": one, **shape}} for one in TRANSPORTS], tmp_path)
            assert [asked.path for asked in recorder.asked[-len(TRANSPORTS) :]] == [path] * len(TRANSPORTS), url


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a system to do harm to, whose backlog waits a hundredth of its time."""
    running = start(tmp_path_factory.mktemp("troubled") / "terminal", QUEUE_SPEED="100")
    yield running
    assert running.stop() == 0


@pytest.fixture
def bad_day(troubled: Running) -> Iterator[Callable[..., None]]:
    """Give a function that puts faults, which end with the test."""

    def put(**fault: object) -> None:
        assert troubled.faults("PUT", **fault).status == 200

    yield put
    troubled.faults("DELETE")


def sending(
    client: Environment, answering: Answering, cwd: Path, **case: object
) -> tuple[list[Emitted], list[Recorder]]:
    """Send an event through each transport, one of them with gzip, each with a recorder before `answering`."""
    with ExitStack() as stack:
        recorders = [stack.enter_context(recording(answering)) for _ in TRANSPORTS]
        plain, zipped = ({"type": kind, "url": one.url} for kind, one in zip(TRANSPORTS, recorders, strict=True))
        cases = [{"transport": plain, **case}, {"transport": {**zipped, "compression": "gzip"}, **case}]
        return emit(client, cases, cwd), recorders


def good(emitted: Sequence[Emitted]) -> bool:
    return [one.seen for one in emitted] == ["returns", "success"]


@pytest.mark.parametrize(
    "fault",
    [{"status": 503}, {"status": 429}, {"status": 403}, {"domain_missing": True}, {"latency_ms": 6000}],
    ids=["down", "throttling", "denied", "missing", "slow"],
)
def test_datazone_in_trouble_is_no_trouble_of_the_client(
    client: Environment, troubled: Running, bad_day: Callable[..., None], tmp_path: Path, fault: dict[str, Any]
) -> None:
    """It is answered 202 before it gives up, and its event is in DataZone once, when that is well again."""
    ledger = Ledger(troubled)
    bad_day(service="datazone", **fault)
    emitted, recorders = sending(client, passing(troubled.url), tmp_path)
    assert good(emitted)
    assert [one.statuses for one in recorders] == [[202], [202]]
    troubled.faults("DELETE")
    ledger.closes([one.event for one in emitted])


def test_where_nothing_takes_an_event_the_client_sends_it_again(
    client: Environment, troubled: Running, bad_day: Callable[..., None], tmp_path: Path
) -> None:
    """It is answered 503 until something does; then the event is in DataZone once."""
    ledger = Ledger(troubled)
    for service in ("datazone", "sqs", "s3"):
        bad_day(service=service, status=503)
    refused: set[bytes] = set()

    def answering(asked: Asked) -> Answer:
        answer = passing(troubled.url)(asked)
        if answer.status == 503:
            refused.add(asked.event)
        if len(refused) == len(TRANSPORTS):
            # Both have been told; from now on the day is good again.
            troubled.faults("DELETE")
        return answer

    emitted, recorders = sending(client, answering, tmp_path)
    assert good(emitted)
    for one in recorders:
        assert one.statuses[0] == 503
        assert one.statuses[-1] in {200, 202}
        assert len({asked.body for asked in one.asked}) == 1
    ledger.closes([one.event for one in emitted])


def test_an_answer_that_gets_lost_costs_nothing(client: Environment, troubled: Running, tmp_path: Path) -> None:
    """DataZone has the event, the client does not know it and sends it again: it is still one event."""
    ledger = Ledger(troubled)
    lost: set[bytes] = set()

    def losing(asked: Asked) -> Answer:
        answer = passing(troubled.url)(asked)
        if asked.event in lost:
            return answer
        lost.add(asked.event)
        return HANG_UP

    emitted, recorders = sending(client, losing, tmp_path)
    assert good(emitted)
    assert [len(one.asked) for one in recorders] == [2, 2]
    ledger.closes([one.event for one in emitted])


@pytest.mark.parametrize(
    ("case", "status", "code"),
    [({"naive": True}, 422, "schema_violation"), ({"padding": 300_000}, 413, "too_large")],
    ids=["against the rules", "too large"],
)
def test_what_is_refused_is_refused_once_and_kept(  # noqa: PLR0913, PLR0917 - a fixture or parameter each
    client: Environment, system: Running, ledger: Ledger, tmp_path: Path, case: dict[str, Any], status: int, code: str
) -> None:
    """The program is told, nothing is sent twice, and the bytes are in quarantine with their reason."""
    emitted, recorders = sending(client, passing(system.url), tmp_path, **case)
    assert [one.seen for one in emitted] == ["raises HTTPError", "failed"]
    assert [one.statuses for one in recorders] == [[status], [status]]
    assert all("retry-after" not in {name.lower() for name in one.exchanges[0][1].headers} for one in recorders)
    ledger.closes([one.event for one in emitted], findings={one.event: code for one in emitted})
