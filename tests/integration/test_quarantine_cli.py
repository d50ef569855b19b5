"""`replay s3://…`, `quarantine` and `backlog` as they are typed: the real door and quarantine, moto's S3 and SQS."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from click.testing import CliRunner, Result
from moto.server import ThreadedMotoServer

from adapter.doors.http import HttpDoor
from adapter.ingest import Ingest
from adapter.lanes import Lanes
from adapter.model import Cause, Code, Deferred, Received, Rejected, Source
from adapter.quarantine import Quarantine
from cli.main import group
from local.kpl import aggregate
from tests.fakes import FakeBacklog, FakeLineage, FakeTelemetry, callers, delivered, run_event
from tests.integration.standin import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

    from adapter.model import Outcome, RunEvent

COMMAND = str(Path(sys.executable).parent / "lineage-adapter")
DAY = 1_795_953_600.0  # 2026-11-29T12:00:00Z
NEXT_DAY = DAY + 86_400
NOT_JSON = b"{\xe2\x98\x83"


def refused(_: RunEvent) -> Outcome:
    return Rejected(Code.REFUSED_BY_DATAZONE, "DataZone does not like it")


def away(event: RunEvent) -> Outcome:
    return Deferred(Cause.UNAVAILABLE, event.client_token)


@pytest.fixture(scope="module")
def aws_url() -> Iterator[str]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def _environment(aws_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.delenv("LINEAGE_ADAPTER_API_KEY", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws_url)


@dataclass
class Stand:
    """The HTTP door over a socket, with the real quarantine, and a DataZone and a backlog that do as they are told."""

    s3: S3Client
    bucket: str
    url: str = ""
    lineage: FakeLineage = field(default_factory=FakeLineage)
    backlog: FakeBacklog = field(default_factory=FakeBacklog)
    posted: list[bytes] = field(default_factory=list)
    teapot_for: bytes | None = None
    meanwhile: Callable[[], None] = lambda: None
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.quarantine = Quarantine(self.s3, self.bucket, 3)
        self.ingest = Ingest(self.lineage, self.quarantine, FakeTelemetry())
        self.door = HttpDoor(self.ingest, Lanes(self.ingest, 2, 2.0), self.backlog, callers())

    def answer(self, path: str, body: bytes) -> dict[str, Any]:
        with self.lock:
            self.posted.append(body)
        self.meanwhile()
        if body == self.teapot_for:
            return {"statusCode": 418, "headers": {}, "body": ""}
        event = {
            "httpMethod": "POST",
            "path": path,
            "headers": {"Content-Type": "application/json"},
            "body": base64.b64encode(body).decode(),
            "isBase64Encoded": True,
            "requestContext": {"httpMethod": "POST", "path": path},
        }
        return self.door(event, None)

    def refuse(
        self,
        raw: bytes,
        script: Callable[[RunEvent], Outcome] = refused,
        when: float = DAY,
        producer: str | None = None,
    ) -> str:
        """Have an event refused as a door would, and give its key."""
        received = Received(raw, Source.KINESIS, producer, when)
        outcome = Ingest(FakeLineage(script), self.quarantine, FakeTelemetry())(received, float("inf"))
        assert isinstance(outcome, Rejected)
        assert outcome.quarantine_key
        return outcome.quarantine_key

    def listed(self) -> list[str]:
        return [one["Key"] for one in self.s3.list_objects_v2(Bucket=self.bucket).get("Contents", [])]

    def body(self, key: str) -> bytes:
        return self.s3.get_object(Bucket=self.bucket, Key=key)["Body"].read()

    def replay(self, prefix: str = "", *more: str) -> Result:
        return run("replay", f"s3://{self.bucket}/{prefix}", "--url", self.url, *more)

    def run(self, *words: str) -> Result:
        return run("quarantine", words[0], "--bucket", self.bucket, *words[1:])

    @property
    def delivered(self) -> list[bytes]:
        return [event.raw for event in self.lineage.given]


def run(*words: str) -> Result:
    return CliRunner().invoke(group, list(words))


@pytest.fixture
def stand() -> Iterator[Stand]:
    s3 = boto3.client("s3")
    bucket = f"quarantine-{uuid.uuid4()}"
    s3.create_bucket(Bucket=bucket)
    s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    stand = Stand(s3, bucket)
    with serving(lambda path, _, body: stand.answer(path, body)) as stand.url:
        yield stand


def _marker(key: str, day: str = "2026-11-29") -> str:
    return f"days/{day}/{key.removeprefix('quarantine/').removesuffix('.event')}"


def _reason(key: str) -> str:
    return f"{key.removesuffix('.event')}.reason.json"


# ---- replay s3://bucket/quarantine/ --------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", ["1", "8"])
def test_what_is_delivered_is_moved_away_and_what_is_refused_again_stays(stand: Stand, concurrency: str) -> None:
    """Sent = delivered + still in quarantine; the bytes are the emitter's, and no event is in both."""
    good = {stand.refuse(raw): raw for raw in map(run_event, range(1, 8))}
    reasons = {_reason(key): stand.body(_reason(key)) for key in good}
    bad = stand.refuse(NOT_JSON)
    result = stand.replay("quarantine/", "--concurrency", concurrency, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["counts"] == {
        "delivered": 7, "deferred": 0, "rejected": 1, "failed": 0, "unsent": 0
    }  # fmt: skip
    assert sorted(stand.delivered) == sorted(good.values())
    today = [key for key in stand.listed() if key.startswith("days/") and "2026-11-29" not in key]
    assert sorted(set(stand.listed()) - set(today)) == sorted(
        [bad, _reason(bad), _marker(bad), *(f"replayed/{key}" for key in (*good, *reasons))]
    )
    assert {key: stand.body(f"replayed/{key}") for key in good} == good
    assert {key: stand.body(f"replayed/{key}") for key in reasons} == reasons
    assert stand.body(bad) == NOT_JSON


def test_to_replay_twice_sends_nothing_twice(stand: Stand) -> None:
    stand.refuse(run_event())
    assert stand.replay().exit_code == 0
    before = stand.listed()
    assert stand.replay().exit_code == 0
    assert (len(stand.posted), stand.listed()) == (1, before)


def test_what_is_finished_in_the_bucket_is_remembered_by_the_bucket_alone(stand: Stand, tmp_path: Path) -> None:
    """What was refused there is sent again by the next command, although a file's event of the same bytes is not."""
    stand.refuse(NOT_JSON)
    stand.refuse(run_event(1))
    stand.teapot_for = run_event(1)
    arguments = ("replay", f"s3://{stand.bucket}", "--url", stand.url)
    assert run(*arguments).exit_code == 1
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []
    (tmp_path / "torn.json").write_bytes(NOT_JSON)
    stand.posted.clear()
    for _ in range(2):
        assert run(*arguments[:1], str(tmp_path / "torn.json"), *arguments[1:]).exit_code == 1
    assert Counter(stand.posted) == Counter({NOT_JSON: 3, run_event(1): 2})


def test_a_replay_killed_in_the_middle_is_ended_by_the_next_one(stand: Stand) -> None:
    """The process dies while the fifth event is being delivered: nothing is lost, each token is in DataZone once."""
    raws = [run_event(number) for number in range(1, 9)]
    keys = [stand.refuse(raw) for raw in raws]
    words = [COMMAND, "replay", f"s3://{stand.bucket}", "--url", stand.url]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - our own
    stand.meanwhile = lambda: process.kill() if len(stand.posted) == 5 else None
    assert process.wait(180) == -signal.SIGKILL
    still = [stand.body(key) for key in stand.listed() if key in keys]
    moved = [stand.body(key) for key in stand.listed() if key.removeprefix("replayed/") in keys and key not in keys]
    assert sorted(still + moved) == sorted(raws)
    assert len(moved) == 4
    stand.meanwhile = lambda: None
    assert stand.replay().exit_code == 0
    assert stand.listed() == sorted(f"replayed/{one}" for key in keys for one in (key, _reason(key)))
    assert {event.client_token for event in stand.lineage.given} == {
        hashlib.sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest() for raw in raws
    }


def test_one_event_can_be_named_by_its_key(stand: Stand) -> None:
    """As the reason beside it says."""
    first, second = stand.refuse(run_event(1)), stand.refuse(run_event(2))
    command = json.loads(stand.body(_reason(first)))["replay"].split()
    assert run(*command[1:-1], stand.url).exit_code == 0
    assert stand.delivered == [run_event(1)]
    assert first not in stand.listed()
    assert second in stand.listed()


def test_what_the_backlog_takes_is_moved_away(stand: Stand) -> None:
    key = stand.refuse(run_event())
    stand.lineage.script = away
    assert stand.replay().exit_code == 0
    assert [received.raw for received, _ in stand.backlog.put_in] == [run_event()]
    assert stand.listed() == [f"replayed/{key}", f"replayed/{_reason(key)}"]


def test_what_only_the_quarantine_takes_again_stays_there(stand: Stand) -> None:
    """DataZone and the backlog are away: the adapter answers 202, and its quarantine is the event's one place."""
    stand.lineage.script, stand.backlog.away = away, True
    assert stand.answer("/", run_event())["statusCode"] == 202
    before = stand.listed()
    assert stand.replay().exit_code == 0
    assert stand.listed() == before
    assert any(key.startswith("quarantine/backlog_unreachable/") for key in before)
    stand.lineage.script = delivered
    assert stand.replay().exit_code == 0
    assert all(key.startswith("replayed/") for key in stand.listed())


def test_all_days_of_an_event_are_removed(stand: Stand) -> None:
    key = stand.refuse(run_event(), when=DAY)
    assert stand.refuse(run_event(), when=NEXT_DAY) == key
    assert {_marker(key), _marker(key, "2026-11-30")} < set(stand.listed())
    assert stand.replay(f"quarantine/{Code.REFUSED_BY_DATAZONE}").exit_code == 0
    assert stand.listed() == [f"replayed/{key}", f"replayed/{_reason(key)}"]


def test_more_than_a_page_is_replayed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while what is listed moves away."""
    raws = [run_event(number) for number in range(1, 13)]
    keys = [stand.refuse(raw) for raw in raws]
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "5")
    dry = stand.replay("", "--dry-run").stdout.splitlines()
    assert dry[-1].startswith("12 events of")
    assert stand.posted == []
    assert stand.replay().exit_code == 0
    assert sorted(stand.posted) == sorted(raws)
    monkeypatch.undo()
    assert stand.listed() == sorted(f"replayed/{one}" for key in keys for one in (key, _reason(key)))


@pytest.mark.parametrize("prefix", ["days/", "replayed/quarantine/", "quarantined"])
def test_a_prefix_without_events_is_a_wrong_usage(stand: Stand, prefix: str) -> None:
    result = stand.replay(prefix)
    assert result.exit_code == 2
    assert result.stderr.endswith("events are below quarantine/, aws/lambda/ and archive/ only\n")


# ---- replay s3://bucket/aws/lambda/ --------------------------------------------------------------------------------


def _failure(stand: Stand, *data: bytes, payload: object = None) -> str:
    """Write what Lambda writes: AWS Lambda developer guide, "Retain discarded batch records"."""
    records = [
        {
            "kinesis": {
                "kinesisSchemaVersion": "1.0",
                "partitionKey": "run:retail/orders",
                "sequenceNumber": str(number),
                "data": base64.b64encode(one).decode(),
                "approximateArrivalTimestamp": DAY,
            },
            "eventSource": "aws:kinesis",
        }
        for number, one in enumerate(data, 1)
    ]
    record = {
        "requestContext": {"requestId": str(uuid.uuid4()), "condition": "RetryAttemptsExhausted"},
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": "2026-11-29T12:00:00.000Z",
        "KinesisBatchInfo": {"shardId": "shardId-000000000000", "batchSize": len(data)},
        "payload": payload or json.dumps({"Records": records}),
    }
    key = f"aws/lambda/{uuid.uuid4()}/shardId-000000000000/2026/11/29/2026-11-29T12.00.00-{uuid.uuid4()}"
    stand.s3.put_object(Bucket=stand.bucket, Key=key, Body=json.dumps(record).encode())
    return key


def test_each_event_of_a_failure_record_is_posted_by_itself(stand: Stand) -> None:
    """Plain, gzipped, aggregated and gzipped in an aggregate; then the record is moved away, unchanged."""
    raws = [run_event(number) for number in range(1, 6)]
    packed = aggregate([("a", raws[2]), ("a", gzip.compress(raws[3])), ("b", raws[4])])
    key = _failure(stand, raws[0], gzip.compress(raws[1]), packed)
    whole = stand.body(key)
    assert stand.replay("aws/lambda/").exit_code == 0
    assert stand.delivered == raws
    assert stand.listed() == [f"replayed/{key}"]
    assert stand.body(f"replayed/{key}") == whole


def test_a_failure_record_stays_until_all_its_events_are_somewhere(stand: Stand) -> None:
    """The second event gets no verdict at first. What is sent again has the same bytes, so the same token."""
    key = _failure(stand, run_event(1), run_event(2), run_event(3))
    stand.teapot_for = run_event(2)
    result = stand.replay("aws/lambda/", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["counts"]["failed"] == 1
    assert stand.listed() == [key]
    stand.teapot_for = None
    assert stand.replay("aws/lambda/").exit_code == 0
    assert stand.listed() == [f"replayed/{key}"]
    assert set(stand.delivered) == {run_event(1), run_event(2), run_event(3)}


def test_what_is_refused_of_a_failure_record_is_in_quarantine_when_the_record_is_moved(stand: Stand) -> None:
    """Also what cannot be unpacked: it is posted as it is."""
    broken = aggregate([("a", run_event(1))])[:-1] + b"\0"
    key = _failure(stand, NOT_JSON, broken, run_event(2))
    result = stand.replay("", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["counts"]["rejected"] == 2
    quarantined = [one for one in stand.listed() if one.startswith("quarantine/") and one.endswith(".event")]
    assert Counter(map(stand.body, quarantined)) == Counter([NOT_JSON, broken])
    assert stand.delivered == [run_event(2)]
    assert f"replayed/{key}" in stand.listed()
    assert key not in stand.listed()


def test_what_is_no_failure_record_is_said_and_left_alone(stand: Stand) -> None:
    good = _failure(stand, run_event(1))
    payloads: list[object] = ["[]", {"Records": [{"Sns": {}}]}, {"Records": []}]
    others = [_failure(stand, payload=payload) for payload in payloads]
    result = stand.replay("", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["codes"]["rejected"] == {"not_a_failure_record": 3}
    assert stand.posted == [run_event(1)]
    assert sorted(stand.listed()) == sorted([*others, f"replayed/{good}"])


# ---- quarantine ----------------------------------------------------------------------------------------------------


def _job(namespace: str, run: int = 1) -> bytes:
    return run_event(run, job={"namespace": namespace, "name": "orders.daily"})


def _listed(stand: Stand, *filters: str) -> set[str]:
    result = stand.run("list", "--json", *filters)
    assert result.exit_code == 0, result.output
    return {json.loads(line)["key"] for line in result.stdout.splitlines()}


def test_the_list_says_of_each_event_why_whose_and_when(stand: Stand) -> None:
    naive = stand.refuse(run_event(eventTime="2026-11-29T10:00:00"), producer="spark")
    stand.refuse(run_event(eventTime="2026-11-29T10:00:00"), producer="spark", when=NEXT_DAY)
    torn = stand.refuse(NOT_JSON)
    size = len(run_event(eventTime="2026-11-29T10:00:00"))
    days = "2026-11-29..2026-11-30"
    header, *rows, total = stand.run("list").stdout.splitlines()
    assert header.split() == ["CODE", "DAYS", "JOB", "PRODUCER", "SOURCE", "BYTES", "FIRST", "ERROR", "KEY"]
    assert [row.split() for row in rows] == [
        ["not_json", "2026-11-29", "-", "-", "kinesis", str(len(NOT_JSON)), "-", torn],
        ["schema_violation", days, "retail/orders.daily", "spark", "kinesis", str(size), "/eventTime", "format", naive],
    ]
    assert total.startswith("2 in quarantine: ")
    assert {"not_json 1", "schema_violation 1"} == set(total.split(": ")[1].split(", "))
    said = [json.loads(line) for line in stand.run("list", "--json").stdout.splitlines()]
    assert [(one["key"], one["code"], one["days"]) for one in said] == [
        (torn, "not_json", ["2026-11-29"]),
        (naive, "schema_violation", ["2026-11-29", "2026-11-30"]),
    ]


def test_the_filters_choose_what_is_listed(stand: Stand) -> None:
    first = stand.refuse(_job("retail", 1), producer="spark")
    second = stand.refuse(_job("retail", 2), producer="airflow", when=NEXT_DAY)
    third = stand.refuse(_job("finance"), producer="spark", when=NEXT_DAY)
    fourth = stand.refuse(NOT_JSON)
    assert _listed(stand) == {first, second, third, fourth}
    assert _listed(stand, "--code", "not_json") == {fourth}
    assert _listed(stand, "--code", "not_json", "--code", "refused_by_datazone") == {first, second, third, fourth}
    assert _listed(stand, "--day", "2026-11-29") == {first, fourth}
    assert _listed(stand, "--day", "2026-11-29", "--code", "not_json") == {fourth}
    assert _listed(stand, "--since", "2026-11-29") == {first, second, third, fourth}
    assert _listed(stand, "--since", "2026-11-30") == {second, third}
    assert _listed(stand, "--since", "2026-11-29", "--code", "not_json") == {fourth}
    assert _listed(stand, "--since", "2026-12-01") == set()
    assert _listed(stand, "--job-namespace", "retail") == {first, second}
    assert _listed(stand, "--producer", "spark", "--since", "2026-11-30") == {third}
    assert stand.run("list", "--day", "2026-11-29", "--since", "2026-11-29").exit_code == 2


def test_a_day_whose_event_is_gone_lists_nothing(stand: Stand) -> None:
    """Whoever replayed it was interrupted before it could remove the marker."""
    key = stand.refuse(run_event())
    stand.s3.delete_object(Bucket=stand.bucket, Key=key)
    assert _listed(stand, "--day", "2026-11-29") == set()
    assert stand.run("replay", "--day", "2026-11-29", "--url", stand.url).exit_code == 0


def test_an_event_without_a_reason_is_listed_all_the_same(stand: Stand) -> None:
    key = stand.refuse(run_event())
    stand.s3.delete_object(Bucket=stand.bucket, Key=_reason(key))
    assert _listed(stand) == {key}
    assert key in stand.run("list", "--day", "2026-11-29").stdout


def test_show_gives_the_reason_and_only_on_demand_the_bytes(stand: Stand, tmp_path: Path) -> None:
    key = stand.refuse(NOT_JSON)
    sha256 = hashlib.sha256(NOT_JSON).hexdigest()
    for which in (key, sha256, sha256[:8], f"s3://{stand.bucket}/{key}"):
        result = stand.run("show", which)
        assert result.exit_code == 0
        said = json.loads(result.stdout)
        assert (said["key"], said["code"], said["bytes"]) == (key, "not_json", len(NOT_JSON))
    assert stand.run("show", key, "--bytes").stdout_bytes == NOT_JSON
    assert stand.run("show", key, "--output", str(tmp_path / "event")).exit_code == 0
    assert (tmp_path / "event").read_bytes() == NOT_JSON


def test_show_says_what_it_cannot_tell(stand: Stand) -> None:
    keys = [stand.refuse(_job("retail", run)) for run in range(1, 18)]
    digits = Counter(key.split("/")[2][0] for key in keys)
    common = digits.most_common(1)[0][0]
    assert f"{digits[common]} events begin so" in stand.run("show", common).stderr
    assert "0 events begin so" in stand.run("show", "0" * 64).stderr
    assert "nothing there" in stand.run("show", f"quarantine/not_json/{'0' * 64}.event").stderr
    assert "neither a key" in stand.run("show", "days/2026-11-29").stderr
    assert {stand.run("show", which).exit_code for which in (common, "0" * 64, "days/")} == {2}


def test_replay_sends_what_the_filters_choose(stand: Stand) -> None:
    stand.refuse(_job("retail", 1), producer="spark")
    stand.refuse(_job("retail", 2), producer="airflow", when=NEXT_DAY)
    stand.refuse(_job("finance", 3), producer="spark", when=NEXT_DAY)
    stand.refuse(NOT_JSON)
    arguments = ("replay", "--url", stand.url)
    assert stand.run(*arguments, "--job-namespace", "retail", "--producer", "spark").exit_code == 0
    assert stand.delivered == [_job("retail", 1)]
    assert stand.run(*arguments, "--day", "2026-11-30", "--job-namespace", "finance").exit_code == 0
    assert stand.delivered == [_job("retail", 1), _job("finance", 3)]
    assert stand.run(*arguments, "--code", "refused_by_datazone").exit_code == 0
    assert stand.delivered == [_job("retail", 1), _job("finance", 3), _job("retail", 2)]
    assert stand.run(*arguments, "--dry-run").stdout.splitlines()[-1].startswith("1 events of 4 bytes")
    assert stand.posted[3:] == []


def test_the_command_that_goes_on_names_the_same_events_and_adapter(stand: Stand, aws_url: str) -> None:
    stand.refuse(_job("retail", 1))
    stand.refuse(_job("retail", 2))
    stand.refuse(_job("finance", 3))
    filters = ("--code", "refused_by_datazone", "--since", "2026-11-29", "--job-namespace", "retail")
    typed = (
        "replay",
        "--endpoint-url",
        aws_url,
        *filters,
        "--url",
        stand.url,
        "--gzip",
        "--concurrency",
        "2",
        "--json",
    )
    stand.teapot_for = gzip.compress(_job("retail", 2), mtime=0)
    result = stand.run(*typed)
    assert result.exit_code == 1
    again = shlex.split(json.loads(result.stdout)["resume"])
    assert again[:5] == ["lineage-adapter", "quarantine", "replay", "--bucket", stand.bucket]
    stand.teapot_for = None
    rest = run(*again[1:])
    assert json.loads(rest.stdout)["counts"]["delivered"] == 1
    assert {event.raw for event in stand.lineage.given} == {_job("retail", 1), _job("retail", 2)}


def test_bytes_are_never_written_to_a_terminal() -> None:
    terminal, output = pty.openpty()
    try:
        words = [COMMAND, "quarantine", "show", "0", "--bytes", "--bucket", "any-bucket"]
        done = subprocess.run(words, stdout=output, stderr=subprocess.PIPE, check=False, text=True)  # noqa: S603 - our own
    finally:
        os.close(output)
        os.close(terminal)
    assert done.returncode == 2
    assert "pipe them somewhere, or --output FILE" in done.stderr


def test_the_stack_names_bucket_and_adapter(stand: Stand) -> None:
    stack = f"stack-{uuid.uuid4()}"
    _stack(stack, {"QuarantineBucketName": stand.bucket, "Url": stand.url})
    key = stand.refuse(run_event())
    assert key in run("quarantine", "list", "--stack", stack).stdout
    assert run("quarantine", "replay", "--stack", stack).exit_code == 0
    assert stand.delivered == [run_event()]


def _stack(name: str, outputs: dict[str, str]) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {key: {"Value": value} for key, value in outputs.items()},
    }
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(template))


# ---- backlog -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Queues:
    """A backlog and its dead-letter queue."""

    sqs: SQSClient
    backlog: str
    dead: str

    def run(self, command: str, *more: str) -> Result:
        return run("backlog", command, "--queue-url", self.backlog, "--dead-letter-url", self.dead, *more)

    def messages(self, url: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while got := self.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], VisibilityTimeout=600
        ).get("Messages"):
            found += [dict(one) for one in got]
        return found


@pytest.fixture
def queues() -> Queues:
    sqs = boto3.client("sqs")
    name = str(uuid.uuid4())
    urls = [sqs.create_queue(QueueName=f"{kind}-{name}")["QueueUrl"] for kind in ("backlog", "dead")]
    return Queues(sqs, *urls)


def test_redrive_puts_every_dead_letter_back_with_its_body_and_attributes(queues: Queues) -> None:
    bodies = [f'{{"event": "{number} \u2603"}}' for number in range(37)]
    attributes: dict[str, Any] = {
        "text": {"DataType": "String", "StringValue": "spark"},
        "bytes": {"DataType": "Binary", "BinaryValue": b"\0\xff"},
    }
    for body in bodies:
        queues.sqs.send_message(QueueUrl=queues.dead, MessageBody=body, MessageAttributes=attributes)
    result = queues.run("redrive")
    assert result.exit_code == 0
    assert result.stdout.startswith("37 dead letters are on the backlog again\nTo watch them: lineage-adapter backlog ")
    moved = queues.messages(queues.backlog)
    assert sorted(one["Body"] for one in moved) == sorted(bodies)
    assert all(one["MessageAttributes"] == attributes for one in moved)
    assert json.loads(queues.run("status", "--json").stdout)["dead_letters"] == 0
    assert queues.run("redrive").stdout == "0 dead letters are on the backlog again\n"


def test_a_redrive_that_cannot_send_deletes_nothing(queues: Queues) -> None:
    queues.sqs.send_message(QueueUrl=queues.dead, MessageBody="kept")
    gone = queues.backlog + "-gone"
    result = run("backlog", "redrive", "--queue-url", gone, "--dead-letter-url", queues.dead)
    assert result.exit_code == 2
    assert f"{gone}: no such queue" in result.stderr
    assert len(queues.messages(queues.dead)) == 1


def test_status_counts_what_waits(queues: Queues) -> None:
    for number in range(4):
        queues.sqs.send_message(QueueUrl=queues.backlog, MessageBody=str(number))
    queues.sqs.send_message(QueueUrl=queues.backlog, MessageBody="later", DelaySeconds=60)
    queues.sqs.send_message(QueueUrl=queues.dead, MessageBody="dead")
    queues.sqs.receive_message(QueueUrl=queues.backlog, VisibilityTimeout=60)
    assert json.loads(queues.run("status", "--json").stdout) == {
        "waiting": 3,
        "in_flight": 1,
        "delayed": 1,
        "oldest_seconds": None,
        "dead_letters": 1,
        "dead_letters_in_flight": 0,
    }
    lines = queues.run("status").stdout.splitlines()
    assert [line.split()[-1] if line.startswith("oldest") else line.split("  ")[0] for line in lines[:5]] == [
        "waiting", "in flight", "delayed", "unknown", "dead letters"
    ]  # fmt: skip
    assert "backlog redrive" in lines[5]


def test_the_stack_names_the_queues(queues: Queues) -> None:
    stack = f"stack-{uuid.uuid4()}"
    _stack(stack, {"BacklogUrl": queues.backlog, "DeadLetterUrl": queues.dead})
    queues.sqs.send_message(QueueUrl=queues.dead, MessageBody="dead")
    result = run("backlog", "redrive", "--stack", stack)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"To watch them: lineage-adapter backlog status --stack {stack}"
    assert json.loads(run("backlog", "status", "--stack", stack, "--json").stdout)["waiting"] == 1


# ---- what goes wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("quarantine", "list", "--bucket", "no-such-bucket"), "no such bucket"),
        (("replay", "s3://no-such-bucket/", "--url", "http://127.0.0.1:9"), "no such bucket"),
        (("quarantine", "list", "--stack", "no-such-stack"), "no such stack in this account and region"),
        (("quarantine", "list"), "name the bucket with --bucket"),
        (("quarantine", "replay", "--bucket", "some-bucket"), "name the adapter with --url"),
        (("replay", "s3:///quarantine/", "--url", "http://127.0.0.1:9"), "names no bucket"),
        (("quarantine", "list", "--bucket", "Not A Bucket"), "Invalid bucket name"),
        (("backlog", "status"), "name the adapter's stack"),
        (("quarantine", "list", "--bucket", "b", "--endpoint-url", "nonsense"), "check --endpoint-url"),
    ],
)
def test_each_mistake_is_one_line_that_says_what_to_do(words: tuple[str, ...], said: str) -> None:
    result = run(*words)
    assert result.exit_code == 2
    error = result.stderr.splitlines()[-1]
    assert error.startswith("Error: ")
    assert said in error


def test_a_stack_of_something_else_is_said(stand: Stand) -> None:
    stack = f"stack-{uuid.uuid4()}"
    _stack(stack, {"Url": stand.url})
    assert "has no output QuarantineBucketName" in run("quarantine", "list", "--stack", stack).stderr
