"""What has to wait keeps its exact bytes, and waits longer each time."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from adapter import backlog
from adapter.backlog import MAX_MESSAGE_BYTES, TRIES, Backlog
from adapter.body import MAX_BODY_BYTES
from adapter.model import Code, Received, Rejected, Source

URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/backlog"
RECEIVED = Received(b'{"a": "\xef\xbf\xbe\\u0000"}\r\n', Source.HTTP, "spark-prod", 1_764_410_000.25)


@given(
    st.builds(
        Received,
        st.binary(max_size=2_000),
        st.sampled_from(Source),
        st.none() | st.text(),
        st.floats(0, 2e9),
    )
)
def test_a_message_brings_back_what_was_put_in(received: Received) -> None:
    """Any bytes: SQS itself takes only some of Unicode's characters."""
    body = backlog.message(received, "token")
    assert body.isascii()
    assert body.isprintable()
    told = backlog.received(body)
    assert (told.raw, told.source, told.producer) == (received.raw, received.source, received.producer)
    assert told.received_at == received.received_at
    assert told.waited
    assert told.door is Source.BACKLOG


def test_a_message_brings_back_the_verdict_of_its_door() -> None:
    refused = Rejected(Code.NOT_AN_OBJECT, "a batch is a JSON array of events")
    assert backlog.received(backlog.message(replace(RECEIVED, refused=refused), None)).refused == refused
    assert backlog.received(backlog.message(RECEIVED, None)).refused is None


def test_a_message_brings_back_what_it_replays() -> None:
    replay = replace(RECEIVED, replays="abc123def456gh")
    assert backlog.received(backlog.message(replay, None)).replays == "abc123def456gh"
    assert backlog.received(backlog.message(RECEIVED, None)).replays is None


def test_a_message_from_before_there_were_verdicts_is_read() -> None:
    said = json.loads(backlog.message(RECEIVED, None))
    del said["refused"]
    assert backlog.received(json.dumps(said)).raw == RECEIVED.raw


def test_a_message_says_whose_it_is() -> None:
    said = json.loads(backlog.message(RECEIVED, "token"))
    assert (said["source"], said["producer"], said["client_token"]) == ("http", "spark-prod", "token")
    assert said["received_at"] == 1_764_410_000.25


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        "[]",
        "null",
        '{"event": 1}',
        '{"event": "%"}',
        '{"event": "eJw=", "source": "http"}',
        "\ud800",
        "[" * 99_999,
        *(
            f'{{"event": "eJwDAAAAAAE=", "source": "http", "producer": {producer}, "received_at": {moment}}}'
            for producer, moment in (
                ("null", "1e999"),
                ("null", "NaN"),
                ("null", "1" + "0" * 400),
                ("null", "1e300"),
                ("null", "9e18"),
                ("[]", 0),
            )
        ),
    ],
)
def test_a_message_that_is_none_of_ours_is_kept_as_it_is(body: str) -> None:
    told = backlog.received(body)
    assert told.raw == body.encode("utf-8", "surrogatepass")
    assert told.source is Source.BACKLOG


@pytest.mark.parametrize(("size", "ours"), [(MAX_BODY_BYTES, True), (MAX_BODY_BYTES + 1, False)])
def test_a_message_that_unpacks_to_more_than_a_door_takes_is_none_of_ours(size: int, ours: bool) -> None:  # noqa: FBT001 - a parameter
    """A bomb in the queue costs no more memory than a body may have."""
    body = backlog.message(Received(bytes(size), Source.HTTP), None)
    assert (backlog.received(body).raw == bytes(size)) is ours


def test_the_largest_event_fits_into_a_message_even_if_nothing_can_be_squeezed() -> None:
    raw = random.Random(1).randbytes(300_000)  # noqa: S311 - the worst case for a compressor, the same each time
    assert len(backlog.message(Received(raw, Source.HTTP), "t" * 64)) < MAX_MESSAGE_BYTES / 2


def _put(received: Received, error: str = "") -> bool:
    client = boto3.client("sqs", "eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        if error:
            stub.add_client_error("send_message", error)
        else:
            expected = {"QueueUrl": URL, "MessageBody": backlog.message(received, "token")}
            stub.add_response("send_message", {"MessageId": "1"}, expected)
        return Backlog(client, URL).put(received, "token")


def test_what_the_queue_takes_is_kept() -> None:
    assert _put(RECEIVED)


@pytest.mark.parametrize("error", ["AccessDenied", "QueueDoesNotExist", "ThrottlingException", "InternalError"])
def test_what_the_queue_does_not_take_is_not_kept(error: str) -> None:
    assert not _put(RECEIVED, error)


def test_what_no_message_can_hold_is_not_kept_and_not_sent() -> None:
    raw = random.Random(1).randbytes(MAX_MESSAGE_BYTES)  # noqa: S311 - the worst case for a compressor
    assert not _put(Received(raw, Source.HTTP), "NeverAsked")


def test_a_message_is_postponed_by_its_visibility() -> None:
    client = boto3.client("sqs", "eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")
    with Stubber(client) as stub:
        expected = {"QueueUrl": URL, "ReceiptHandle": "handle", "VisibilityTimeout": 60}
        stub.add_response("change_message_visibility", {}, expected)
        other = expected | {"ReceiptHandle": "other"}
        stub.add_client_error("change_message_visibility", "AccessDenied", expected_params=other)
        queue = Backlog(client, URL)
        queue.postpone("handle", 60)
        queue.postpone("other", 60)  # what SQS refuses leaves the message to the queue's own timeout
        stub.assert_no_pending_responses()


def test_ten_tries_and_more_take_twelve_hours_and_more() -> None:
    """The queue's maxReceiveCount is TRIES; between them lie TRIES - 1 delays, whatever the jitter."""
    for _ in range(100):
        delays = [backlog.delay(attempt) for attempt in range(1, TRIES)]
        assert TRIES >= 10
        assert sum(delays) >= 12 * 60 * 60
        assert sum(delays[:9]) < sum(delays)
        assert max(delays) <= 12 * 60 * 60


def test_delays_grow_and_are_spread() -> None:
    spread = {backlog.delay(8) for _ in range(200)}
    assert len(spread) > 20
    assert max(backlog.delay(1) for _ in range(50)) < min(backlog.delay(4) for _ in range(50))
    assert backlog.delay(1_000) <= 1.25 * 2 * 60 * 60


@pytest.mark.parametrize("namespaces", [None, (), ("retail", "s3://*")])
def test_the_rights_that_an_event_came_with_wait_with_it(namespaces: tuple[str, ...] | None) -> None:
    came = Received(b"{}", Source.HTTP, "spark", 1.0, namespaces=namespaces)
    assert backlog.received(backlog.message(came, None)) == replace(came, waited=True)


def test_rights_that_cannot_be_read_are_no_licence() -> None:
    """Such a message is none of ours: it is judged as the bytes it is, which are no event."""
    told = json.loads(backlog.message(Received(b"{}", Source.HTTP, "spark"), None)) | {"namespaces": "*"}
    assert backlog.received(json.dumps(told)).raw == json.dumps(told).encode()
