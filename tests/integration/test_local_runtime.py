"""The local runtime runs functions as Lambda does: a process each, one invocation at a time, killed when too slow."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from local.runtime import (
    PAYLOAD_BYTES,
    FunctionError,
    InitError,
    NoSandboxError,
    PayloadTooLargeError,
    Program,
    Runtime,
)
from tests.integration.running import processes, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENVIRONMENT = {"AWS_LAMBDA_FUNCTION_NAME": "fn", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "ONLY": "this"}

type Make = Callable[..., Runtime]


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def make(log: list[str]) -> Iterator[Make]:
    """Make runtimes, and see that they leave no process behind."""
    made: list[Runtime] = []

    def runtime(handler: str = "behave", size: int = 1, timeout: float = 5) -> Runtime:
        program = Program("fn", f"tests.integration.handlers.{handler}", timeout, ENVIRONMENT)
        made.append(Runtime(program, size, log.append))
        return made[-1]

    yield runtime
    pids = [pid for one in made for pid in one.pids()]
    for one in made:
        one.stop()
    assert not {process.pid for process in processes()} & set(pids)


def test_a_function_sees_its_own_environment_and_nothing_else(make: Make) -> None:
    answer = make("echo").invoke({"a": "ä\ud800"})
    assert answer["event"] == {"a": "ä\ud800"}
    assert answer["environment"].items() >= ENVIRONMENT.items()
    assert answer["environment"].keys() - ENVIRONMENT.keys() <= {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert (answer["name"], answer["memory"]) == ("fn", "256")
    assert 1000 < answer["remaining"] <= 5000
    assert answer["request_id"]


def test_what_a_function_prints_is_its_log(make: Make, log: list[str]) -> None:
    pid = make("echo").invoke({})["pid"]
    until(lambda: f"echo in {pid}" in log)


def test_a_sandbox_lives_on_and_is_used_again(make: Make) -> None:
    runtime = make()
    assert runtime.invoke({}) == runtime.invoke({})
    with pytest.raises(FunctionError):
        runtime.invoke({"raise": "x"})
    assert [runtime.invoke({})] == runtime.pids()


def test_an_error_says_where_and_not_what(make: Make, log: list[str]) -> None:
    """A message may hold values of the event."""
    with pytest.raises(FunctionError, match=r"ValueError at .*handlers\.py:\d+ behave") as caught:
        make().invoke({"raise": "SECRET"})
    assert "SECRET" not in str(caught.value) + "".join(log)
    assert any("ValueError" in line for line in log)


def test_what_is_no_json_is_an_error(make: Make) -> None:
    with pytest.raises(FunctionError, match="TypeError"):
        make().invoke({"unserializable": True})


@pytest.mark.parametrize(("death", "code"), [({"exit": 3}, "3"), ({"kill": True}, "-9")])
def test_a_sandbox_that_dies_fails_its_invocation_and_is_replaced(make: Make, death: object, code: str) -> None:
    runtime = make()
    first = runtime.invoke({})
    with pytest.raises(FunctionError, match=f"exited with code {code}"):
        runtime.invoke(death)
    assert runtime.invoke({}) != first


def test_a_sandbox_killed_between_invocations_costs_one_invocation_at_most(make: Make) -> None:
    """As on Lambda, where nobody knows before it is asked."""
    runtime = make()
    first = runtime.invoke({})
    os.kill(first, signal.SIGKILL)
    until(lambda: first not in {process.pid for process in processes()})
    try:
        assert runtime.invoke({}) != first
    except FunctionError:
        assert runtime.invoke({}) != first


def test_the_timeout_kills(make: Make) -> None:
    runtime = make(timeout=1)
    first = runtime.invoke({})
    started = time.monotonic()
    with pytest.raises(FunctionError, match="timed out after 1 seconds"):
        runtime.invoke({"sleep": 60})
    assert time.monotonic() - started < 30
    assert first not in {process.pid for process in processes()}
    assert runtime.invoke({}) != first


def test_at_the_same_time_means_different_sandboxes_up_to_the_size(make: Make) -> None:
    runtime = make(size=2)
    threads = [threading.Thread(target=runtime.invoke, args=[{"sleep": 1.5}]) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: len(runtime.pids()) == 2)
    with pytest.raises(NoSandboxError):
        runtime.invoke({}, patience=0.05)
    for thread in threads:
        thread.join()
    assert runtime.invoke({}) in runtime.pids()
    assert len(runtime.pids()) == 2


def test_payloads_are_6_mb_at_most_either_way(make: Make) -> None:
    runtime = make()
    with pytest.raises(PayloadTooLargeError):
        runtime.invoke("x" * PAYLOAD_BYTES)
    with pytest.raises(FunctionError, match="too large"):
        runtime.invoke({"answer_bytes": PAYLOAD_BYTES})
    assert len(runtime.invoke({"answer_bytes": PAYLOAD_BYTES - 100})) == PAYLOAD_BYTES - 100


def test_a_handler_that_cannot_be_imported_is_an_error_at_the_start(
    make: Make, capfd: pytest.CaptureFixture[str]
) -> None:
    runtime = make("nowhere")
    with pytest.raises(InitError, match="did not come up"):
        runtime.warm()
    assert "has no attribute 'nowhere'" in capfd.readouterr().err
    assert runtime.pids() == []


def test_stopping_waits_for_what_runs_and_begins_nothing_more(make: Make, log: list[str]) -> None:
    runtime = make()
    runtime.warm()
    done: list[object] = []
    thread = threading.Thread(target=lambda: done.append(runtime.invoke({"sleep": 0.4})))
    thread.start()
    until(lambda: "sleeps" in log)
    runtime.stop(patience=60)
    thread.join()
    assert len(done) == 1
    with pytest.raises(NoSandboxError):
        runtime.invoke({}, patience=0.01)


class Counted:
    def __init__(self) -> None:
        self.said: list[object] = []

    def invoked(self, seconds: float, *, failed: bool) -> None:
        assert seconds < 5
        self.said.append(failed)

    def throttled(self) -> None:
        self.said.append("throttled")


def test_what_comes_of_an_invocation_is_told() -> None:
    told = Counted()
    program = Program("fn", "tests.integration.handlers.behave", 5, ENVIRONMENT)
    runtime = Runtime(program, 1, lambda _: None, told)
    runtime.invoke({})
    with pytest.raises(FunctionError):
        runtime.invoke({"raise": "x"})
    runtime.stop()
    with pytest.raises(NoSandboxError):
        runtime.invoke({}, patience=0.01)
    assert told.said == [False, True, "throttled"]


def test_one_that_does_not_come_up_has_failed(capfd: pytest.CaptureFixture[str]) -> None:
    told = Counted()
    runtime = Runtime(Program("fn", "tests.integration.handlers.nowhere", 5, ENVIRONMENT), 1, lambda _: None, told)
    with pytest.raises(InitError):
        runtime.invoke({})
    assert "nowhere" in capfd.readouterr().err
    assert told.said == [True]
