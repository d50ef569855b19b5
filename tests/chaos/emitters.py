"""Emitters that behave like real ones, and hold each answer to the contract.

Over HTTP they send again after a 503, when `Retry-After` says, after a connection that broke, and after API Gateway's
own 500, which stands for a function that was killed. An emitter that gives up does so when it is told 503 for the
second time, as the Java client does; all others go on until they are taken.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import deque
from http.client import HTTPConnection, HTTPException
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from botocore.exceptions import BotoCoreError, ClientError

from adapter import backlog
from adapter.model import Received, Source
from local.kpl import aggregate
from local.resources import STREAM
from tests.chaos.events import token
from tests.chaos.shipments import Door

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.chaos.events import Event
    from tests.chaos.shipments import Shipment
    from tests.chaos.tally import Tally

PATH = "/api/v1/lineage"
# The adapter answers within 4 seconds; a machine that does all of this at once may need more.
_TIMEOUT = 20.0
_PAUSE = 0.2
_TRIES = 2

_STATUSES = {
    "not_utf8": 400,
    "not_json": 400,
    "duplicate_key": 400,
    "too_deep": 400,
    "not_an_object": 400,
    "too_large": 413,
    "unsupported_encoding": 415,
    "unsupported_kind": 422,
    "schema_violation": 422,
}

Answer = tuple[int, dict[str, str], Any]


class OutOfTimeError(Exception):
    """The run's time is up while an emitter still waits for somebody to take its events."""


class Emitters:
    """All emitters of a run. Safe to share among threads."""

    def __init__(self, url: str, clients: Callable[[str], Any], tally: Tally, deadline: float) -> None:
        """Post to `url`, write with `clients` of kinesis and sqs, until `deadline` (monotonic seconds)."""
        self._netloc = urlsplit(url).netloc
        self._kinesis = clients("kinesis")
        self._sqs = clients("sqs")
        self._queue = queues(self._sqs)[0]
        self._tally = tally
        self._deadline = deadline
        self._idle: deque[HTTPConnection] = deque()

    def ship(self, shipment: Shipment) -> None:
        """Bring all of `shipment` to where somebody answers for it, or give up. Raises OutOfTimeError."""
        self._tally.send(shipment.door, shipment.events)
        match shipment.door:
            case Door.BATCH:
                self._batch(shipment)
            case Door.HTTP | Door.HTTP_GZIP | Door.BROKEN_BATCH:
                self._single(shipment)
            case Door.BACKLOG:
                self._queued(shipment.events)
            case _:
                self._streamed(_records(shipment), shipment.events)

    # ---- HTTP -------------------------------------------------------------------------------------------------------

    def _single(self, shipment: Shipment) -> None:
        event, door = shipment.events[0], shipment.door
        path = f"{PATH}/batch" if door is Door.BROKEN_BATCH else PATH
        body, headers = _packed(event.raw, event.index) if door is Door.HTTP_GZIP else (event.raw, {})
        status, _, told = self._answered(shipment, path, body, headers)
        if status == 503:
            return
        self._tally.take(shipment.events)
        if not _right(event, status, told):
            self._tally.breach(f"{status} {told.get('code') or told.get('status')}", [event])

    def _batch(self, shipment: Shipment) -> None:
        pending = list(shipment.events)
        for attempt in count(1):
            raw = b"[" + b" ,\n".join(event.raw for event in pending) + b"]"
            body, headers = _packed(raw, attempt) if attempt % 2 == 0 else (raw, {})
            status, _, told = self._answered(shipment, f"{PATH}/batch", body, headers)
            if status == 503:
                return
            if status != 200:
                self._tally.breach(f"{status} to a batch", pending)
                return
            pending = self._left(pending, told)
            if not pending:
                return
            if shipment.gives_up and attempt >= _TRIES:
                self._tally.give_up(pending)
                return
            self._wait(2.0)

    def _left(self, events: Sequence[Event], body: Any) -> list[Event]:  # noqa: ANN401 - JSON
        """Give those of a batch that are to be sent again."""
        failed = {one["index"]: one for one in body["failed_events"]}
        again = [event for place, event in enumerate(events) if failed.get(place, {}).get("retriable")]
        self._tally.take(event for event in events if event not in again)
        for place, one in failed.items():
            code = one["reason"].partition(":")[0]
            if not one["retriable"] and code != events[place].code:
                self._tally.breach(f"{code} in a batch", [events[place]])
        return again

    def _answered(self, shipment: Shipment, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Post until there is an answer that is an end; 503 when the emitter gives up."""
        unanswered, refusals = False, 0
        while True:
            answer = self._posted(path, headers, body)
            if answer is None or answer[0] == 500:
                # Whoever was not answered cannot know that nothing was kept.
                unanswered = unanswered or answer is None
                self._wait(_PAUSE)
            elif answer[0] == 503:
                refusals += 1
                if not _unavailable(answer):
                    self._tally.breach("503 that is not the contract's", shipment.events)
                if shipment.gives_up and refusals >= _TRIES and not unanswered:
                    self._tally.give_up(shipment.events)
                    return answer
                self._wait(float(answer[1].get("retry-after", "2")))
            else:
                return answer

    def _posted(self, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        began = time.monotonic()
        connection = self._connection()
        try:
            connection.request("POST", path, body, {"Content-Type": "application/json"} | headers)
            got = connection.getresponse()
            told = got.read()
        except (OSError, HTTPException):
            connection.close()
            self._tally.answer("none", time.monotonic() - began)
            return None
        self._idle.append(connection)
        self._tally.answer(str(got.status), time.monotonic() - began)
        return got.status, {name.lower(): value for name, value in got.getheaders()}, json.loads(told)

    def _connection(self) -> HTTPConnection:
        """Give one that nobody uses; each is kept alive, as clients do."""
        try:
            return self._idle.pop()
        except IndexError:
            return HTTPConnection(self._netloc, timeout=_TIMEOUT)

    def close(self) -> None:
        """Close all connections that are idle."""
        while self._idle:
            self._idle.pop().close()

    # ---- Stream and queue -------------------------------------------------------------------------------------------

    def _streamed(self, records: Sequence[dict[str, Any]], events: Sequence[Event]) -> None:
        while records:
            try:
                answer = self._kinesis.put_records(StreamName=STREAM, Records=records)
            except (BotoCoreError, ClientError):
                self._wait(_PAUSE)
                continue
            pairs = zip(records, answer["Records"], strict=True)
            records = [record for record, told in pairs if "ErrorCode" in told]
        self._tally.take(events)

    def _queued(self, events: Sequence[Event]) -> None:
        entries = [{"Id": str(event.index), "MessageBody": _message(event)} for event in events]
        while entries:
            try:
                answer = self._sqs.send_message_batch(QueueUrl=self._queue, Entries=entries)
            except (BotoCoreError, ClientError):
                self._wait(_PAUSE)
                continue
            done = {one["Id"] for one in answer.get("Successful", [])}
            entries = [entry for entry in entries if entry["Id"] not in done]
        self._tally.take(events)

    def _wait(self, seconds: float) -> None:
        if time.monotonic() + seconds > self._deadline:
            raise OutOfTimeError
        time.sleep(seconds)


def queues(sqs: Any) -> tuple[str, str]:  # noqa: ANN401 - boto3's client
    """Give the URLs of the backlog and of its dead letters."""
    urls = sorted(sqs.list_queues()["QueueUrls"], key=lambda url: "dead" in url)
    return urls[0], urls[1]


def _packed(raw: bytes, number: int) -> tuple[bytes, dict[str, str]]:
    """Compress, and say so every other time; some emitters forget to."""
    return gzip.compress(raw, 1), {"Content-Encoding": "gzip"} if number % 2 else {}


def _right(event: Event, status: int, body: Any) -> bool:  # noqa: ANN401 - JSON
    """Say whether the answer to one event is the contract's. One that waits for the bucket is a 202 as well."""
    if status == 202:
        return bool(body["status"] == "deferred")
    if event.code is None:
        return (status, body.get("status"), body.get("clientToken")) == (200, "delivered", token(event.raw))
    key = f"quarantine/{event.code}/{event.digest}.event"
    return (status, body.get("code"), body.get("quarantineKey")) == (_STATUSES[event.code], event.code, key)


def _unavailable(answer: Answer) -> bool:
    _, headers, body = answer
    kind = headers.get("content-type")
    return kind == "application/problem+json" and headers.get("retry-after") == "2" and body["code"] == "unavailable"


def _records(shipment: Shipment) -> list[dict[str, Any]]:
    """Make a stream's records of a shipment; those of a run have one partition key."""
    key: Callable[[Event], str] = lambda event: f"run:{UUID(int=event.index // 3)}"  # noqa: E731 - used thrice below
    match shipment.door:
        case Door.KINESIS:
            return [{"PartitionKey": key(event), "Data": event.raw} for event in shipment.events]
        case Door.KINESIS_GZIP:
            return [{"PartitionKey": key(event), "Data": gzip.compress(event.raw, 1)} for event in shipment.events]
        case _:
            data = aggregate([(key(event), event.raw) for event in shipment.events])
            return [{"PartitionKey": "a", "Data": data}]


def _message(event: Event) -> str:
    """Write a message as the adapter would, and one in ten as a person might: the bare event."""
    if event.index % 10 == 0 and event.raw.isascii() and b"\x08" not in event.raw:
        return event.raw.decode()
    return backlog.message(Received(event.raw, Source.HTTP, None), None)
