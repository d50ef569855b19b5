"""The queue for bad days: what cannot be delivered now waits here and is tried again, later each time."""

from __future__ import annotations

import base64
import json
import random
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from adapter.body import MAX_BODY_BYTES
from adapter.model import Code, Received, Rejected, Source

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# An SQS message is at most 1 MiB (Amazon SQS quotas).
MAX_MESSAGE_BYTES = 1_048_576

# Tries and the seconds between them. The queue's maxReceiveCount is TRIES: with these delays the last one comes more
# than 14 hours after the first, so an outage of a working day needs nobody. SQS allows 12 hours for one delay.
TRIES = 15
_FIRST_DELAY = 30
_LONGEST_DELAY = 2 * 60 * 60

# The year 10000, in seconds since 1970: Python's datetime, and so the quarantine, knows no day from there on.
_END_OF_CALENDAR = 253_402_300_800


def delay(attempt: int) -> int:
    """Say how many seconds to wait after `attempt` (1 is the first): doubling, with up to a quarter of jitter on top.

    The jitter spreads out what an outage has put into the queue at the same moment.
    """
    seconds = min(_FIRST_DELAY * 2.0 ** (attempt - 1), _LONGEST_DELAY)
    return int(seconds * random.uniform(1.0, 1.25))  # noqa: S311 - jitter, not a secret


class Backlog:
    """The SQS queue, seen from a door that cannot deliver."""

    def __init__(self, client: SQSClient, url: str) -> None:
        """Put messages on the queue at `url`; the client's timeouts are the door's patience."""
        self._client = client
        self._url = url

    def put(self, received: Received, client_token: str | None) -> bool:
        """Keep `received` on the queue; say whether it is there. False when SQS does not take it. Never raises."""
        body = message(received, client_token)
        if len(body) > MAX_MESSAGE_BYTES:
            return False
        try:
            self._client.send_message(QueueUrl=self._url, MessageBody=body)
        except (BotoCoreError, ClientError):
            return False
        return True

    def postpone(self, receipt_handle: str, seconds: int) -> None:
        """Have a received message come again after `seconds`. Where that fails, the queue's own timeout stands."""
        with suppress(BotoCoreError, ClientError):
            self._client.change_message_visibility(
                QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=seconds
            )


def message(received: Received, client_token: str | None) -> str:
    """Write `received` as an SQS message: ASCII JSON with the exact bytes, compressed and in base64.

    SQS takes only some Unicode characters; an event may hold any.
    """
    return json.dumps(
        {
            "event": base64.b64encode(zlib.compress(received.raw, 1)).decode(),
            "source": received.source,
            "producer": received.producer,
            # As they were when it came: it is judged again by the rights that its producer had then.
            "namespaces": received.namespaces,
            "client_token": client_token,
            "received_at": received.received_at,
            "replays": received.replays,
            # What its door knew and the bytes alone do not say: that they were no array, or in an unknown encoding.
            "refused": _said(received.refused) if received.refused else None,
        }
    )


def received(body: str) -> Received:
    """Read what `message` wrote. What it did not write comes back as it is, to be judged like any other bytes."""
    try:
        return _read(json.loads(body))
    except (ValueError, RecursionError, zlib.error):
        return Received(body.encode("utf-8", "surrogatepass"), Source.BACKLOG, waited=True)


def _read(said: object) -> Received:
    match said:
        case {
            "event": str(event),
            "source": str(source),
            "producer": None | str() as producer,
            "received_at": int() | float() as received_at,
            **more,
        } if 0 <= received_at < _END_OF_CALENDAR:
            return Received(
                _unpacked(event),
                Source(source),
                producer,
                float(received_at),
                waited=True,
                refused=_refused(more.get("refused")),
                replays=_text(more.get("replays")),
                namespaces=_namespaces(more.get("namespaces")),
            )
    raise ValueError("none of ours")


def _namespaces(said: object) -> tuple[str, ...] | None:
    match said:
        case None:
            return None
        case [*patterns] if all(isinstance(pattern, str) for pattern in patterns):
            return tuple(map(str, patterns))
    raise ValueError("none of ours")


def _text(said: object) -> str | None:
    return said if isinstance(said, str) else None


def _said(refused: Rejected) -> dict[str, str]:
    return {"code": refused.code, "detail": refused.detail}


def _refused(said: object) -> Rejected | None:
    match said:
        case {"code": str(code), "detail": str(detail)}:
            return Rejected(Code(code), detail)
    return None


def _unpacked(event: str) -> bytes:
    """Undo `message`'s compression; no door takes more than MAX_BODY_BYTES, so what is larger is none of ours."""
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(event, validate=True), MAX_BODY_BYTES + 1)
    if not unpacking.eof or len(raw) > MAX_BODY_BYTES:
        raise ValueError("torn, or too large")
    return raw
