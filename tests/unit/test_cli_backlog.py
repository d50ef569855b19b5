"""Moving dead letters, against queues in memory that die or lie where they are told to."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from cli.aws import AwsError
from cli.backlog import CopyError, Mover, Queues

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

QUEUES = Queues("https://sqs.example/1/backlog", "https://sqs.example/1/dead")


def _md5(body: str) -> str:
    return hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def _message(name: str, body: str) -> dict[str, str]:
    return {"MessageId": name, "ReceiptHandle": name, "Body": body, "MD5OfBody": _md5(body)}


@dataclass
class FakeSqs:
    """A dead-letter queue whose messages are hidden once received, and a backlog."""

    dead: dict[str, str]
    hidden: set[str] = field(default_factory=set)
    backlog: list[str] = field(default_factory=list)
    breaks: str = ""
    lies: bool = False
    doubles: bool = False
    _lock: Lock = field(default_factory=Lock)

    def receive_message(self, **asked: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore takes it
        assert asked["QueueUrl"] == QUEUES.dead_letters
        with self._lock:
            found = [handle for handle in self.dead if handle not in self.hidden][: asked["MaxNumberOfMessages"]]
            self.hidden.update(found)
            messages = [_message(one, self.dead[one]) for one in found for _ in range(1 + self.doubles)]
        return {"Messages": messages} if messages else {}

    def send_message(self, **asked: Any) -> dict[str, str]:  # noqa: ANN401 - the same
        assert asked["QueueUrl"] == QUEUES.backlog
        self._break("SendMessage")
        self.backlog.append(asked["MessageBody"])
        return {"MD5OfMessageBody": "0" if self.lies else _md5(asked["MessageBody"])}

    def delete_message(self, **asked: str) -> None:
        assert asked["QueueUrl"] == QUEUES.dead_letters
        self._break("DeleteMessage")
        with self._lock:
            del self.dead[asked["ReceiptHandle"]]

    def _break(self, operation: str) -> None:
        if self.breaks == operation:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": ""}}, cast("Any", operation))


def _moved(sqs: FakeSqs) -> int:
    mover = Mover(cast("SQSClient", sqs), QUEUES)
    mover.run(lambda _: None)
    return mover.moved


@pytest.mark.parametrize("operation", ["SendMessage", "DeleteMessage"])
def test_a_redrive_that_breaks_leaves_each_message_in_a_queue_and_the_next_one_ends_it(operation: str) -> None:
    """Broken between copy and deletion it is in both, which the token makes harmless."""
    sqs = FakeSqs({str(number): f"body {number}" for number in range(25)}, breaks=operation)
    with pytest.raises(AwsError, match=f"sqs:{operation}"):
        _moved(sqs)
    assert len(sqs.dead) == 25
    sqs.breaks = ""
    sqs.hidden.clear()
    assert _moved(sqs) == 25
    assert sqs.dead == {}
    assert set(sqs.backlog) == {f"body {number}" for number in range(25)}


def test_a_message_that_sqs_gives_twice_is_moved_and_counted_once() -> None:
    sqs = FakeSqs({str(number): f"body {number}" for number in range(25)}, doubles=True)
    assert _moved(sqs) == 25
    assert sorted(sqs.backlog) == sorted(f"body {number}" for number in range(25))


def test_nothing_is_deleted_when_sqs_has_got_something_else() -> None:
    sqs = FakeSqs({"1": "body"}, lies=True)
    with pytest.raises(CopyError):
        _moved(sqs)
    assert sqs.dead == {"1": "body"}
