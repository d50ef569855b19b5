"""`lineage-adapter replay` as it is typed, against a server that keeps the HTTP contract."""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result

from adapter.accept import accept
from adapter.doors import answers
from adapter.model import Cause, Deferred, Delivered, RunEvent
from cli.main import group
from tests.fakes import run_event
from tests.integration.standin import serving
from tests.sample import EVENTS, index, valid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.running import Running

COMMAND = Path(sys.executable).parent / "lineage-adapter"
NOT_FOUND = {"statusCode": 404, "headers": {}, "body": "nothing here"}
# Hangs up without an answer.
DROP = None


@dataclass
class Door:
    """An adapter that judges as the real one, after `script` is used up: its answers come first, one a request."""

    url: str = ""
    script: list[answers.Answer | None] = field(default_factory=list)
    seconds: float = 0.0
    meanwhile: Callable[[], None] = lambda: None
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: Lock = field(default_factory=Lock)

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> answers.Answer | None:
        with self.lock:
            self.times.append(time.monotonic())
            self.paths.append(path)
            self.headers.append(headers)
            self.bodies.append(body)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            scripted = [self.script.pop(0)] if self.script else []
        self.meanwhile()
        time.sleep(self.seconds)
        with self.lock:
            self.at_once -= 1
        return scripted[0] if scripted else _judged(body)


def _judged(body: bytes) -> answers.Answer:
    judged = accept(body)
    if isinstance(judged, RunEvent):
        return answers.of(Delivered("abc123def456gh", "dzd_local", judged.client_token))
    return answers.of(judged)


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door()
    with serving(door.answer) as door.url:
        yield door


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the states of these replays away from the user's."""
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.delenv("LINEAGE_ADAPTER_API_KEY", raising=False)
    return tmp_path / "home"


def _run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(group, ["replay", *map(str, arguments)], input=stdin)


def _states(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def _events(folder: Path, count: int) -> list[bytes]:
    raw = [run_event(number) for number in range(1, count + 1)]
    (folder / "events.ndjson").write_bytes(b"\n".join(raw))
    return raw


def test_every_sample_arrives_as_it_is_and_gets_its_verdict(door: Door, home: Path) -> None:
    """All of events/, by its index: the exact bytes, and for what is refused the status, code and first path."""
    result = _run(EVENTS, "--url", door.url, "--json")
    summary = json.loads(result.stdout)
    expected = index()
    refused = {str(EVENTS / name): one for name, one in expected.items() if one.status != 200}
    assert Counter(door.bodies) == Counter((EVENTS / name).read_bytes() for name in expected)
    assert set(door.paths) == {"/api/v1/lineage"}
    assert {one["name"]: (one["status"], one["code"], one["path"]) for one in summary["troubles"]} == {
        name: (one.status, one.code, one.path) for name, one in refused.items()
    }
    assert summary["codes"]["rejected"] == Counter(one.code for one in refused.values())
    assert summary["counts"] == {
        "delivered": len(expected) - len(refused),
        "deferred": 0,
        "rejected": len(refused),
        "failed": 0,
        "unsent": 0,
    }
    assert (result.exit_code, summary["stopped"], summary["resume"]) == (1, None, None)
    assert not _states(home)


def test_through_the_adapter_every_sample_ends_where_its_index_says(system: Running, tmp_path: Path) -> None:
    """Valid ones, each with a run of its own, are in DataZone byte for byte; the others are refused as listed."""
    fresh = []
    for number, path in enumerate(valid()):
        raw = path.read_bytes()
        fresh.append(raw.replace(json.loads(raw)["run"]["runId"].encode(), str(uuid4()).encode()))
        (tmp_path / f"{number}.json").write_bytes(fresh[-1])
    summary = json.loads(_run(tmp_path, EVENTS / "invalid", "--url", system.url, "--json").stdout)
    expected = {str(EVENTS / name): one for name, one in index().items() if one.status != 200}
    assert {one["name"]: (one["status"], one["code"], one["path"]) for one in summary["troubles"]} == {
        name: (one.status, one.code, one.path) for name, one in expected.items()
    }
    assert summary["counts"]["delivered"] == len(fresh)
    assert set(fresh) <= set(system.delivered().values())


def test_a_person_reads_what_became_of_what(door: Door) -> None:
    naive = EVENTS / "invalid" / "naive-time.json"
    door.script = [answers.of(Deferred(Cause.THROTTLED, "token"))]
    result = _run(EVENTS / "executor", naive, "--url", door.url)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "delivered 2",
        "deferred  1",
        "rejected  1  schema_violation 1",
        "failed    0",
    ]
    assert result.stderr.splitlines() == [f"{naive}: rejected, 422 schema_violation at /eventTime"]


def test_delivered_or_deferred_is_success(door: Door) -> None:
    door.script = [answers.of(Deferred(Cause.THROTTLED, "token"))]
    assert _run(EVENTS / "executor", "--url", door.url).exit_code == 0


def test_standard_input_goes_line_by_line_in_order(door: Door) -> None:
    raw = [run_event(number) for number in range(5)]
    result = _run("-", "--url", f"{door.url}/lineage", stdin=b"\r\n".join(raw))
    assert result.exit_code == 0
    assert door.bodies == raw
    assert set(door.paths) == {"/lineage"}


def test_compressed_and_with_a_token_that_is_never_shown(
    door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LINEAGE_ADAPTER_API_KEY", "s3cret")
    (tmp_path / "key").write_text("other-s3cret\n")
    event = EVENTS / "executor" / "fail.json"
    unauthorized = {"statusCode": 401, "headers": {}, "body": '{"message": "Unauthorized"}'}
    door.script = [DROP, unauthorized, _judged(event.read_bytes())]
    refused = _run(event, "--url", door.url, "--gzip")
    accepted = _run(event, "--url", door.url, "--gzip", "--api-key-file", str(tmp_path / "key"))
    assert (refused.exit_code, accepted.exit_code) == (1, 0)
    assert "LINEAGE_ADAPTER_API_KEY" in refused.stderr
    assert "s3cret" not in refused.output + accepted.output
    assert [headers["Authorization"] for headers in door.headers] == [*["Bearer s3cret"] * 2, "Bearer other-s3cret"]
    assert {headers["Content-Encoding"] for headers in door.headers} == {"gzip"}
    assert {gzip.decompress(body) for body in door.bodies} == {event.read_bytes()}


def test_not_now_and_a_dropped_connection_are_sent_again_as_asked(door: Door, tmp_path: Path) -> None:
    """Retry-After is waited for, and nothing overtakes what waits."""
    first, second = _events(tmp_path, 2)
    door.script = [answers.unavailable(), DROP]
    result = _run(tmp_path, "--url", door.url)
    assert result.exit_code == 0
    assert door.bodies == [first, first, first, second]
    assert door.times[1] - door.times[0] >= answers.RETRY_AFTER_SECONDS


def test_several_at_a_time_all_arrive_and_are_told_in_order(door: Door, tmp_path: Path) -> None:
    good = _events(tmp_path, 40)
    bad = [b"%d" % number for number in range(5)]
    (tmp_path / "more.ndjson").write_bytes(b"\n".join(bad))
    door.seconds = 0.02
    result = _run(tmp_path, "--url", door.url, "--concurrency", 8)
    assert Counter(door.bodies) == Counter([*good, *bad])
    assert 2 <= door.most_at_once <= 8
    assert [line.partition(": ")[0] for line in result.stderr.splitlines()] == [
        f"{tmp_path / 'more.ndjson'}:{number}" for number in range(1, 6)
    ]


def test_one_at_a_time_is_one_at_a_time(door: Door, tmp_path: Path) -> None:
    raw = _events(tmp_path, 10)
    door.seconds = 0.005
    _run(tmp_path, "--url", door.url)
    assert (door.bodies, door.most_at_once) == (raw, 1)


def test_what_is_not_the_adapter_gets_one_event_and_no_more(door: Door) -> None:
    door.script = [NOT_FOUND]
    result = _run(EVENTS / "spark", "--url", f"{door.url}/elsewhere")
    assert result.exit_code == 1
    assert len(door.bodies) == 1
    assert f"Stopped: {door.url}/elsewhere answers 404" in result.stderr
    assert "not sent  4" in result.stdout


def test_tls_where_there_is_none_is_one_clear_line(door: Door) -> None:
    result = _run(EVENTS / "spark", "--url", door.url.replace("http://", "https://"))
    assert result.exit_code == 1
    assert "Stopped: 127.0.0.1 does not speak TLS" in result.stderr


def test_when_nobody_takes_anything_the_replay_stops_and_the_same_command_goes_on(
    door: Door, tmp_path: Path, home: Path
) -> None:
    """One failed event is passed by; five in a row are the adapter's trouble. What had its verdict keeps it."""
    raw = _events(tmp_path, 12)
    good, bad = _judged(raw[0]), _judged(b"x")
    door.script = [good, bad, NOT_FOUND, good, *[NOT_FOUND] * 5]
    command = (tmp_path / "events.ndjson", "--url", door.url, "--json")
    first = _run(*command)
    summary = json.loads(first.stdout)
    assert (first.exit_code, summary["counts"]["failed"], summary["counts"]["unsent"]) == (1, 6, 3)
    assert "5 events in a row" in summary["stopped"]
    assert summary["resume"].split()[2:] == [str(command[0]), "--url", f"{door.url}/api/v1/lineage", "--json"]
    assert len(_states(home)) == 1

    door.bodies.clear()
    second = _run(*command)
    summary = json.loads(second.stdout)
    assert door.bodies == [raw[2], *raw[4:]]
    assert (summary["counts"]["delivered"], summary["codes"]["rejected"]) == (11, {"not_json": 1})
    assert second.exit_code == 1
    assert not _states(home)


def test_one_failed_event_is_what_the_same_command_sends_again(door: Door, tmp_path: Path) -> None:
    raw = _events(tmp_path, 4)
    door.script = [_judged(raw[0]), NOT_FOUND]
    first = _run(tmp_path, "--url", door.url)
    assert (first.exit_code, "what is left: lineage-adapter replay" in first.stderr) == (1, True)
    door.bodies.clear()
    assert _run(tmp_path, "--url", door.url).exit_code == 0
    assert door.bodies == [raw[1]]


def test_what_one_adapter_has_another_has_not(door: Door, tmp_path: Path) -> None:
    """A replay that stopped at one endpoint begins at the next."""
    raw = _events(tmp_path, 3)
    door.script = [_judged(raw[0]), NOT_FOUND]
    _run(tmp_path, "--url", door.url)
    door.bodies.clear()
    _run(tmp_path, "--url", f"{door.url}/lineage")
    assert door.bodies == raw


def test_a_file_that_goes_away_on_the_way_stops_the_replay_with_its_account(door: Door, tmp_path: Path) -> None:
    events = tmp_path / "events"
    events.mkdir()
    (events / "a.ndjson").write_bytes(b"\n".join(run_event(number) for number in range(3)))
    (events / "b.json").write_bytes(run_event(4))
    door.meanwhile = lambda: (events / "b.json").unlink(missing_ok=True)
    result = _run(events, "--url", door.url)
    assert result.exit_code == 1
    assert "delivered 3" in result.stdout
    assert f"Stopped: {events / 'b.json'}: No such file or directory" in result.stderr


@contextmanager
def _started(*arguments: object, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
    # Started in the background, pytest may ignore SIGINT, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    words = [str(COMMAND), *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=stderr, text=True) as process:  # noqa: S603 - ours
        try:
            yield process
        finally:
            process.kill()


def _wait_for(door: Door, requests: int) -> None:
    deadline = time.monotonic() + 60
    while len(door.bodies) < requests:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_after_ctrl_c_the_command_it_prints_goes_on(door: Door, tmp_path: Path, home: Path) -> None:
    """Only what was under way is sent a second time."""
    raw = _events(tmp_path, 30)
    door.seconds = 0.05
    with _started("replay", tmp_path / "events.ndjson", "--url", door.url) as process:
        _wait_for(door, 10)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "not sent" in stdout
    assert "Stopped: interrupted" in stderr
    assert "Traceback" not in stderr
    finished = len(door.bodies)
    assert 10 <= finished < 30

    door.seconds = 0
    again = stderr.splitlines()[-1].partition("what is left: ")[2].split()
    assert again[0] == "lineage-adapter"
    result = _run(*again[2:])
    assert result.exit_code == 0
    assert f"delivered {len(raw)}" in result.stdout
    assert Counter(door.bodies).keys() == set(raw)
    assert len(door.bodies) <= len(raw) + 1
    assert not _states(home)


def test_ctrl_c_does_not_wait_for_a_better_moment(door: Door, tmp_path: Path) -> None:
    _events(tmp_path, 3)
    door.script = [answers.problem(503, "unavailable", "Not now", "", {"Retry-After": "50"})]
    with _started("replay", tmp_path, "--url", door.url) as process:
        assert process.stderr
        assert process.stderr.readline().endswith("again in 50 s\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert len(door.bodies) == 1


def test_after_a_kill_the_same_command_goes_on_from_its_state(door: Door, tmp_path: Path) -> None:
    """Also with several under way, which are all that is sent twice."""
    raw = _events(tmp_path, 60)
    door.seconds = 0.05
    command = (tmp_path / "events.ndjson", "--url", door.url, "--state", tmp_path / "state", "--concurrency", 4)
    with _started("replay", *command) as process:
        _wait_for(door, 30)
        process.kill()

    door.seconds = 0
    result = _run(*command)
    assert (result.exit_code, "going on after" in result.stderr) == (0, True)
    assert Counter(door.bodies).keys() == set(raw)
    assert len(door.bodies) < len(raw) + 10
    assert not (tmp_path / "state").exists()


def test_wrong_usage_is_a_line_and_status_2() -> None:
    with _started("replay", "missing.json", "--url", "http://127.0.0.1:9") as process:
        assert process.communicate(timeout=60) == ("", "Error: missing.json: no such file or folder\n")
    assert process.returncode == 2


def test_ctrl_c_is_status_130_in_every_command() -> None:
    with _started("lint", "-") as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("{}\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith("stdin:1: ")
        process.send_signal(signal.SIGINT)
        stderr = process.stderr.read() if process.stderr else ""
        process.wait(timeout=60)
    assert (process.returncode, stderr.strip()) == (130, "")


def test_on_a_terminal_a_bar_shows_how_far_it_is(door: Door, tmp_path: Path) -> None:
    """On stderr, so that stdout is the summary and nothing else."""
    _events(tmp_path, 7)
    ours, its = pty.openpty()
    with _started("replay", tmp_path, "--url", door.url, stderr=its) as process:
        stdout, _ = process.communicate(timeout=60)
    os.close(its)
    shown = os.read(ours, 1_000_000).decode()
    os.close(ours)
    assert "7/7" in shown
    assert "7 delivered" in shown
    assert stdout.splitlines() == ["delivered 7", "deferred  0", "rejected  0", "failed    0"]
