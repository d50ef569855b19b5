"""The local system as its own process, seen from outside: two addresses, a process id and a terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import boto3

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_datazone import DataZoneClient
    from mypy_boto3_kinesis import KinesisClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

ROOT = Path(__file__).parents[2]
DOMAIN = "dzd_local"
STREAM = "openlineage"
READY = re.compile(r"^Ready: adapter on (\S+), AWS on (\S+)\. ", re.MULTILINE)
TOKEN = re.compile(r"\bolz_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
START_SECONDS = 180
STOP_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What the adapter answered; every answer is JSON."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Running:
    """A running local system. `terminal` is the file that holds what a person would see."""

    process: subprocess.Popen[bytes]
    terminal: Path
    url: str
    aws_url: str
    datazone: DataZoneClient
    kinesis: KinesisClient
    sqs: SQSClient
    s3: S3Client
    # Events by id, which never change: who waits for one more does not ask for all of them again.
    known: dict[str, bytes] = field(default_factory=dict)

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
        """Make a client of another of its services."""
        return _client(self.aws_url, service)

    @property
    def bucket(self) -> str:
        """Name the quarantine, its only bucket."""
        (bucket,) = self.s3.list_buckets()["Buckets"]
        return bucket["Name"]

    def post(self, body: bytes, path: str = "/api/v1/lineage", **headers: str) -> Answer:
        """Post a body; `content_encoding="gzip"` is a header."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return _request(self.url, "POST", path, body, {"Content-Type": "application/json", **named})

    def get(self, path: str) -> Answer:
        """Ask for a path."""
        return _request(self.url, "GET", path, None, {})

    def faults(self, method: str = "GET", **fault: object) -> Answer:
        """Show, put or delete faults."""
        return _request(self.aws_url, method, "/_faults", json.dumps(fault).encode() if fault else None, {})

    def delivered(self) -> dict[str, bytes]:
        """Give the bytes of every event in DataZone, by id."""
        pages = self.datazone.get_paginator("list_lineage_events").paginate(domainIdentifier=DOMAIN)
        ids = [item["id"] for page in pages for item in page["items"]]
        self.known.update((one, self.event(one)) for one in ids if one not in self.known)
        return {one: self.known[one] for one in ids}

    def event(self, identifier: str) -> bytes:
        """Give the bytes of one event in DataZone."""
        return self.datazone.get_lineage_event(domainIdentifier=DOMAIN, identifier=identifier)["event"].read()

    def output(self) -> str:
        """Give what is on the terminal so far."""
        return self.terminal.read_text(encoding="utf-8")

    def children(self, handler: str = "") -> list[int]:
        """Give the processes it started, those running `handler` only if one is named."""
        mine = (process for process in processes() if process.parent == self.process.pid)
        return [process.pid for process in mine if handler in process.command]

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Stop it as Ctrl-C does; give its exit status. One that does not end says where it stands, and is killed."""
        self.process.send_signal(how)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(STOP_SECONDS)
            raise AssertionError(f"it did not stop within {STOP_SECONDS} s:\n{self.output()}") from None


def start(terminal: Path, *parameters: str, **variables: str) -> Running:
    """Start the local system on free ports and wait until it is ready."""
    process = run(terminal, *parameters, **({"PORT": "0", "AWS_PORT": "0"} | variables))
    ready = until(
        lambda: READY.search(terminal.read_text(encoding="utf-8")) or process.poll() is not None, START_SECONDS
    )
    assert isinstance(ready, re.Match), terminal.read_text(encoding="utf-8")
    aws = partial(_client, ready[2])
    return Running(process, terminal, ready[1], ready[2], aws("datazone"), aws("kinesis"), aws("sqs"), aws("s3"))


def token(running: Running) -> str:
    """Give the token that a system with AUTH=on has printed."""
    found = TOKEN.search(running.output())
    assert found, "nobody is asked for a token"
    return found[0]


def run(terminal: Path, *parameters: str, **variables: str) -> subprocess.Popen[bytes]:
    """Run `python -m local` with its output in `terminal`."""
    with terminal.open("wb") as out:
        return subprocess.Popen(  # noqa: S603 - this interpreter, on our own module
            [sys.executable, "-m", "local", *parameters],
            cwd=ROOT,
            env={**os.environ, "PYTHONFAULTHANDLER": "1", **variables},
            stdout=out,
            stderr=subprocess.STDOUT,
        )


def until[T](check: Callable[[], T], seconds: float = 120) -> T:
    """Ask `check` until it gives something true; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (answer := check()):
        assert time.monotonic() < deadline, "waited for too long"
        time.sleep(0.05)
    return answer


@dataclass(frozen=True, slots=True)
class Process:
    """A line of `ps`."""

    pid: int
    parent: int
    state: str
    command: str


def processes() -> list[Process]:
    """Give all processes of this machine but those that have ended and only wait to be noticed."""
    listed = subprocess.run(
        ["ps", "-axwwo", "pid=,ppid=,state=,args="],  # noqa: S607 - where a system has it
        capture_output=True,
        check=True,
        text=True,
    )
    found = [Process(int(pid), int(parent), *rest) for pid, parent, *rest in map(_split, listed.stdout.splitlines())]
    return [process for process in found if not process.state.startswith("Z")]


def _split(line: str) -> list[str]:
    return line.split(None, 3)


def _client(url: str, service: str) -> Any:  # noqa: ANN401 - boto3's clients have a type each
    return boto3.client(
        cast("Any", service),
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def _request(url: str, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Answer:
    connection = HTTPConnection(urlsplit(url).netloc, timeout=35)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return Answer(response.status, dict(response.headers), json.loads(response.read()))
    finally:
        connection.close()
