"""The plain Java client, which Hive and home-made jobs use too: what it makes of each answer and of each URL.

docs/emitters/java.md has the same tables, and they are held to what is seen here.
"""

from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.emitters import jvm, page
from tests.emitters.ledger import Ledger
from tests.emitters.recorder import Answer, Asked, passing, recording
from tests.integration.running import start, token, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.integration.running import Running

PROGRAM = Path(__file__).parent / "java" / "Emit.java"
EMIT = re.compile(r"^emit: (.*) \d+$", re.MULTILINE)
DEBUG = "-Dorg.slf4j.simpleLogger.log.io.openlineage.client.OpenLineageClient=debug"
TIMEOUT_SECONDS = 5
PROBLEMS = (400, 401, 403, 404, 405, 413, 415, 422)

# What is answered, in the words of the page's table: first what the adapter or its gateway answers.
ANSWERS = {
    "200": Answer(200),
    "202": Answer(202),
    **{str(status): Answer(status) for status in PROBLEMS},
    "429": Answer(429),
    "503, `Retry-After: 2`": Answer(503, {"Retry-After": "2"}),
    "503, `Retry-After: 6`": Answer(503, {"Retry-After": "6"}),
    "500": Answer(500),
    "502": Answer(502),
    "504": Answer(504),
    "301": Answer(301, {"Location": "/moved"}),
    "204": Answer(204, body=b""),
    "200 without a body": Answer(200, body=b""),
    "200 after 6 seconds": Answer(200),
}
URLS = ("", "/", "/openlineage", "/openlineage/")

type Emit = Callable[..., str]


@pytest.fixture(scope="module")
def emit(jars: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Emit:
    """Give a function that emits by an openlineage.yml and gives what the program and the client's log say."""
    home = jars("java")

    def emitting(configuration: str, count: int = 1) -> str:
        work = tmp_path_factory.mktemp("emit")
        (work / "openlineage.yml").write_text(configuration)
        return jvm.java().run("java", DEBUG, "-cp", f"{home}/*", str(PROGRAM), str(count), cwd=work)

    return emitting


@pytest.fixture
def troubled(tmp_path: Path) -> Iterator[Running]:
    """Run a system of its own for faults, whose backlog hurries."""
    running = start(tmp_path / "terminal", QUEUE_SPEED="100")
    yield running
    assert running.stop() == 0


def http(url: str) -> str:
    return yaml.safe_dump({"transport": {"type": "http", "url": url}})


def table(heading: str) -> list[list[str]]:
    """Give the rows of the table of the page whose first column has this heading."""
    text = (page.PAGES / "java.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {heading} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert found
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in found[1].splitlines()]


def test_the_page(emit: Emit, system: Running, ledger: Ledger) -> None:
    """Compressed, with a token, beyond ASCII; counted by the client's own log."""
    with recording(passing(system.url)) as recorder:
        emitted = jvm.logged(emit(page.block("java", "openlineage.yml", url=recorder.url), 3))
    ledger.closes(emitted)
    assert len(emitted) == 3
    assert [asked.event for asked in recorder.asked] == emitted
    assert {asked.headers["content-encoding"] for asked in recorder.asked} == {"gzip"}
    assert {asked.headers["authorization"] for asked in recorder.asked} == {f"Bearer {page.TOKEN}"}


def test_the_key_is_the_producers_token(emit: Emit, tmp_path: Path) -> None:
    """By the real authorizer, for a URL with a slash at its end too; with another key nothing is taken."""
    guarded = start(tmp_path / "terminal", AUTH="on")
    try:
        for url in (guarded.url, f"{guarded.url}/"):
            ledger = Ledger(guarded)
            shown = page.block("java", "openlineage.yml", url=url, token=token(guarded))
            ledger.closes(jvm.logged(emit(shown, 2)))
        ledger = Ledger(guarded)
        emit(page.block("java", "openlineage.yml", url=guarded.url), 2)
        ledger.closes([])
    finally:
        assert guarded.stop() == 0


def test_what_it_makes_of_each_answer(emit: Emit) -> None:
    """How often it sends an event, and whether `emit` returns or throws: each row of the page's table."""
    names = list(ANSWERS)
    came: list[int] = []

    def answering(asked: Asked) -> Answer:
        if asked.method != "POST":
            return Answer(200)
        came.append(number(asked))
        name = names[came[-1]]
        time.sleep(TIMEOUT_SECONDS + 1 if "after" in name else 0)
        return ANSWERS[name]

    with recording(answering) as recorder:
        ends = EMIT.findall(emit(http(recorder.url), len(names)))
    seen = [[name, str(came.count(at)), end] for at, (name, end) in enumerate(zip(names, ends, strict=True))]
    assert seen == table("answered")


def test_where_it_posts_to(emit: Emit, system: Running, ledger: Ledger) -> None:
    """Each shape of a URL, with the path it becomes: each row of the page's table."""
    seen, emitted = [], []
    for path in URLS:
        with recording(partial(at_home, system.url)) as recorder:
            emitted += jvm.logged(emit(http(recorder.url + path)))
        seen.append([f"`https://host{path}`", *(f"`{asked.path}`" for asked in recorder.asked)])
    assert seen == table("URL")
    ledger.closes(emitted)


def at_home(url: str, asked: Asked) -> Answer:
    """Pass on as a gateway does whose custom domain maps /openlineage to the API."""
    inner = asked.path.removeprefix("/openlineage") or "/"
    return passing(url)(Asked(asked.method, inner, asked.headers, asked.body))


def test_a_resend_is_harmless(emit: Emit, system: Running, ledger: Ledger) -> None:
    """The event was delivered and the answer got lost: it comes again, the same bytes, and is there once."""
    first: list[Answer] = []

    def losing(asked: Asked) -> Answer:
        answer = passing(system.url)(asked)
        first.append(answer)
        return answer if len(first) == 2 else Answer(503, {"Retry-After": "2"})

    with recording(losing) as recorder:
        output = emit(http(recorder.url))
    assert EMIT.findall(output) == ["returned"]
    assert [asked.body for asked in recorder.asked] == jvm.logged(output) * 2
    assert [answer.status for answer in first] == [200, 200]
    ledger.closes(jvm.logged(output))


def test_our_bad_days(emit: Emit, troubled: Running) -> None:
    """DataZone is down: the client hears 202 and goes on. Nothing works: it sends once more and then throws."""
    ledger = Ledger(troubled)
    troubled.faults("PUT", service="datazone", rate=1.0, status=503)
    deferred = emit(http(troubled.url), 2)
    assert EMIT.findall(deferred) == ["returned"] * 2
    for service in ("sqs", "s3"):
        troubled.faults("PUT", service=service, rate=1.0, status=503)
    with recording(passing(troubled.url)) as recorder:
        refused = emit(http(recorder.url))
    assert (EMIT.findall(refused), recorder.statuses) == (["HttpTransportResponseException"], [503, 503])
    troubled.faults("DELETE")
    until(lambda: len(ledger.delivered()) == 2)
    ledger.closes(jvm.logged(deferred))


def number(asked: Asked) -> int:
    """Tell which of a program's events this is, by the name of its job."""
    return int(json.loads(asked.event)["job"]["name"].split("-")[1])


def test_the_table_names_every_answer_of_the_adapter() -> None:
    """Each status of the README's table is a row here."""
    readme = (page.PAGES.parents[1] / "README.md").read_text()
    answered: Sequence[str] = re.findall(r"^\| .* \| (\d{3}(?:, \d{3})*) \| .*\|$", readme, re.MULTILINE)
    statuses = {status for cell in answered for status in cell.split(", ")}
    assert statuses
    assert statuses <= {name[:3] for name in ANSWERS}
