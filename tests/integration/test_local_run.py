"""`make run`, as a person at a terminal meets it."""

from __future__ import annotations

import os
import re
import signal
import socket
import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from local.resources import STACK
from tests import sample
from tests.fakes import run_event
from tests.integration.running import DOMAIN, STREAM, Running, processes, run, start, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Give a system to do harm to."""
    running = start(tmp_path_factory.mktemp("troubled") / "terminal")
    yield running
    assert running.stop() == 0


@pytest.fixture
def faults(troubled: Running) -> Iterator[Running]:
    """Give the system to do harm to, and end the harm after the test."""
    yield troubled
    troubled.faults("DELETE")


def fresh(name: str = "orders.daily", event_time: str = "2026-11-29T10:00:00Z") -> bytes:
    """Make an event that is not in DataZone yet."""
    job = {"namespace": "retail", "name": name}
    return run_event(mark=str(uuid.uuid4()), job=job, eventTime=event_time)


def living(pids: list[int]) -> set[int]:
    return {process.pid for process in processes()} & set(pids)


def test_the_first_lines_say_what_this_is_and_how_to_use_it(system: Running) -> None:
    welcome = system.output().partition("Ready")[0]
    for word in (f"curl -sS {system.url}/api/v1/lineage", f"url: {system.url}", STREAM, system.aws_url, "/_faults"):
        assert word in welcome


def test_an_open_system_says_so_loudly_and_how_to_close_it(system: Running) -> None:
    welcome = system.output().partition("Ready")[0]
    assert f"OPEN            Nobody is asked who they are: whoever reaches {system.url} writes lineage" in welcome
    assert "AUTH=on make run" in welcome


def test_an_event_over_http_is_delivered_and_said_so(system: Running) -> None:
    name = str(uuid.uuid4())
    raw = fresh(name)
    answer = system.post(raw)
    assert (answer.status, answer.body["status"]) == (200, "delivered")
    assert system.event(answer.body["id"]) == raw
    until(lambda: f"http     delivered  COMPLETE of retail/{name} run " in system.output())


def test_an_event_through_the_stream_is_delivered_and_said_so(system: Running) -> None:
    name = str(uuid.uuid4())
    raw = fresh(name)
    system.kinesis.put_record(StreamName=STREAM, PartitionKey="k", Data=raw)
    until(lambda: f"kinesis  delivered  COMPLETE of retail/{name} run " in system.output())
    assert raw in system.delivered().values()


def test_a_refused_event_is_said_by_its_rule(system: Running) -> None:
    name = str(uuid.uuid4())
    assert system.post(fresh(name, "yesterday")).status == 422
    line = until(lambda: re.search(f".*{name}.*", system.output()))
    assert line[0].startswith("http     rejected   schema_violation (format at /eventTime) event of retail/")  # type: ignore[index]  # found
    assert "yesterday" not in system.output()
    assert "_aws" not in system.output()


def test_what_the_functions_count_is_in_cloudwatch(system: Running) -> None:
    """As in AWS, where CloudWatch Logs reads it from the functions' logs; each set of dimensions by itself."""
    cloudwatch = system.client("cloudwatch")
    dimensions = [{"Name": "service", "Value": STACK}, {"Name": "door", "Value": "http"}]
    name = str(uuid.uuid4())
    assert system.post(fresh(name)).status == 200
    until(lambda: name in system.output())
    # What other tests have posted to this system is counted with it, and may not be there yet.
    until(lambda: _summed(cloudwatch, dimensions) == system.output().count("\nhttp     delivered"))


def _summed(cloudwatch: Any, dimensions: list[dict[str, str]]) -> float:  # noqa: ANN401 - its types are not installed
    now = datetime.now(UTC)
    found = cloudwatch.get_metric_statistics(
        Namespace="LineageAdapter",
        MetricName="Delivered",
        Dimensions=dimensions,
        StartTime=now - timedelta(hours=1),
        EndTime=now + timedelta(seconds=2),
        Period=60,
        Statistics=["Sum"],
    )
    return float(sum(point["Sum"] for point in found["Datapoints"]))


def test_the_stack_says_where_things_are(system: Running) -> None:
    """So that commands which look a stack up do so here as well."""
    (stack,) = system.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    assert outputs["Url"] == system.url
    assert outputs["QuarantineBucketName"] == system.bucket
    assert outputs["StreamName"] == STREAM


def test_an_answer_that_is_lost_does_not_store_an_event_twice(faults: Running) -> None:
    """Nobody knows that it is there, so it is posted again, under the same token."""
    name = str(uuid.uuid4())
    raw = fresh(name)
    faults.faults("PUT", drop_after_accept=1.0)
    assert faults.post(raw).status == 202
    faults.faults("DELETE")
    assert list(faults.delivered().values()).count(raw) == 1
    faults.kinesis.put_record(StreamName=STREAM, PartitionKey="k", Data=raw)
    until(lambda: f"kinesis  delivered  COMPLETE of retail/{name}" in faults.output())
    assert list(faults.delivered().values()).count(raw) == 1


@pytest.mark.parametrize("fault", [{"status": 429}, {"status": 500}, {"drop": 1}, {"domain_missing": True}])
def test_a_bad_day_of_datazone_defers(faults: Running, fault: dict[str, object]) -> None:
    faults.faults("PUT", **fault)
    name = str(uuid.uuid4())
    answer = faults.post(fresh(name))
    assert (answer.status, answer.body["status"]) == (202, "deferred")
    until(lambda: re.search(f"http +deferred .*{name}", faults.output()))


def test_faults_are_shown_and_cleared(faults: Running) -> None:
    faults.faults("PUT", service="s3", status=503)
    assert faults.faults().body["s3"]["status"] == 503
    assert faults.faults("PUT", nonsense=1).status == 400
    faults.faults("DELETE")
    assert faults.faults().body == {}


def test_a_sandbox_killed_by_hand_is_replaced(troubled: Running) -> None:
    troubled.get("/health")
    killed = troubled.children("adapter.handlers.http")
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    until(lambda: not living(killed))
    answers = [troubled.get("/health").status for _ in range(len(killed) + 1)]
    # Who is asked first may find that it is dead; as on Lambda, its client is told 500.
    assert answers[-1] == 200


def test_a_get_of_lineage_shows_that_processing_went_on(system: Running) -> None:
    identifier = system.post(fresh()).body["id"]

    def status() -> str:
        got = system.datazone.get_lineage_event(domainIdentifier=DOMAIN, identifier=identifier)
        return got["processingStatus"]

    # A busy machine may come too late for the first two.
    assert status() in {"REQUESTED", "PROCESSING", "SUCCESS"}
    until(lambda: status() == "SUCCESS")


def test_a_parameter_that_does_not_exist_is_said_so(tmp_path: Path) -> None:
    process = run(tmp_path / "terminal", "NoSuch=1")
    assert process.wait(180) == 1
    assert (tmp_path / "terminal").read_text() == "template.yaml has no parameter NoSuch\n"


@pytest.mark.parametrize(
    ("variables", "complaint"),
    [
        ({"PORT": "http"}, "PORT must be a port"),
        ({"AWS_PORT": "70000"}, "AWS_PORT must be a port"),
        ({"AUTH": "yes"}, "AUTH must be on or off"),
    ],
)
def test_what_makes_no_sense_is_said_so(tmp_path: Path, variables: dict[str, str], complaint: str) -> None:
    process = run(tmp_path / "terminal", **variables)
    assert process.wait(180) == 1
    assert complaint in (tmp_path / "terminal").read_text()


@pytest.mark.parametrize(("variable", "other"), [("PORT", "AWS_PORT"), ("AWS_PORT", "PORT")])
def test_a_busy_port_is_named_with_the_variable_that_changes_it(tmp_path: Path, variable: str, other: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = run(tmp_path / "terminal", **{variable: str(port), other: "0"})
        assert process.wait(180) == 1
    said = (tmp_path / "terminal").read_text()
    assert f"Port {port}" in said
    assert f"{variable}={port + 1} make run" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_under_load_leaves_no_process_behind(tmp_path: Path, how: signal.Signals) -> None:
    running = start(tmp_path / "terminal", "StreamBatchWindow=0")
    stopped = threading.Event()

    def load() -> None:
        while not stopped.is_set():
            try:
                running.post(fresh())
                running.kinesis.put_record(StreamName=STREAM, PartitionKey="k", Data=fresh())
            except Exception:  # noqa: BLE001 - what a client sees of a server that goes away
                return

    clients = [threading.Thread(target=load) for _ in range(4)]
    for client in clients:
        client.start()
    until(lambda: running.output().count(" delivered ") > 20)
    children = running.children()
    assert len(children) >= 3
    assert running.stop(how) == 0
    stopped.set()
    for client in clients:
        client.join()
    assert not living(children)
    assert "Traceback" not in running.output()


def test_even_a_killed_one_leaves_no_process_behind(tmp_path: Path) -> None:
    running = start(tmp_path / "terminal")
    assert running.post(sample.valid()[0].read_bytes()).status == 200
    children = running.children()
    assert children
    assert running.stop(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: not living(children))
