"""The Kinesis poller redelivers by Lambda's rules."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from local import mapping
from local.mapping import Record, StreamMapping
from local.redelivery import AGE, ATTEMPTS, FIRST_PAUSE, LAST_PAUSE, GivenUp, Redelivery, first_failure
from local.runtime import FunctionError
from local.template import EventSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAPPING = StreamMapping("arn:aws:kinesis:us-east-1:123456789012:stream/s", reports_failures=True)


def records(count: int, arrived: float = 0.0) -> list[Record]:
    return [Record(str(number), "key", b"%d" % number, arrived) for number in range(1, count + 1)]


def reported(*numbers: str | None) -> dict[str, object]:
    return {"batchItemFailures": [{"itemIdentifier": number} for number in numbers]}


@dataclass
class Shard:
    """What a function was given and answered, what was given up on, and how long was waited."""

    answers: Callable[[list[str]], object]
    now: float = 0.0
    stop_after: int = 1000
    given: list[list[str]] = field(default_factory=list)
    given_up: list[GivenUp] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def invoke(self, event: Any) -> object:  # noqa: ANN401 - any JSON
        numbers = [record["kinesis"]["sequenceNumber"] for record in event["Records"]]
        self.given.append(numbers)
        return self.answers(numbers)

    def keep(self, given_up: GivenUp) -> None:
        self.given_up.append(given_up)

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        return len(self.pauses) >= self.stop_after

    def settle(self, batch: Sequence[Record], **settings: Any) -> Shard:  # noqa: ANN401 - a mapping's fields
        rules = Redelivery(replace(MAPPING, **settings), "shardId-000000000000", self.invoke, self, _Clock(self))
        rules.settle(batch)
        return self


@dataclass
class _Clock:
    shard: Shard

    def now(self) -> float:
        return self.shard.now

    def wait(self, seconds: float) -> bool:
        return self.shard.wait(seconds)


def failing(*poison: str) -> Callable[[list[str]], object]:
    """Die whenever one of `poison` is in the batch."""

    def answer(numbers: list[str]) -> object:
        if set(poison) & set(numbers):
            raise FunctionError("died")
        return reported()

    return answer


@pytest.mark.parametrize("answer", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}])
def test_an_empty_answer_is_success(answer: object) -> None:
    shard = Shard(lambda _: answer).settle(records(3))
    assert (shard.given, shard.given_up, shard.pauses) == ([["1", "2", "3"]], [], [])


def test_the_shard_starts_again_at_the_lowest_number_reported() -> None:
    """And everything after it is given again, in order, whatever else was reported."""
    answers = iter([reported("4", "2"), reported()])
    shard = Shard(lambda _: next(answers)).settle(records(5))
    assert shard.given == [["1", "2", "3", "4", "5"], ["2", "3", "4", "5"]]


@pytest.mark.parametrize(
    "answer",
    [reported(None), reported(""), reported("99"), reported("3", "99"), "done", [1], {"batchItemFailures": [{}]}],
)
def test_an_answer_that_names_no_record_fails_the_whole_batch(answer: object) -> None:
    answers = iter([answer, reported()])
    shard = Shard(lambda _: next(answers)).settle(records(3))
    assert shard.given == [["1", "2", "3"], ["1", "2", "3"]]


def test_reports_count_only_where_the_mapping_asks_for_them() -> None:
    shard = Shard(lambda _: reported("1")).settle(records(2), reports_failures=False)
    assert shard.given == [["1", "2"]]


def test_a_batch_that_kills_the_function_is_tried_again_as_it_is() -> None:
    died = iter([True, True, False])

    def answer(_: list[str]) -> object:
        if next(died):
            raise FunctionError("died")
        return None

    assert Shard(answer).settle(records(2)).given == [["1", "2"]] * 3


def test_bisecting_frees_the_good_neighbours_of_poison_and_keeps_their_order() -> None:
    """Only the poison is given up on, and splitting does not count as a try."""
    shard = Shard(failing("3")).settle(records(4), bisects=True, max_retries=0)
    assert shard.given == [["1", "2", "3", "4"], ["1", "2"], ["3", "4"], ["3"], ["4"]]
    ((given_up),) = shard.given_up
    assert [record.sequence_number for record in given_up.records] == ["3"]
    assert (given_up.condition, given_up.invocations) == (ATTEMPTS, 1)


def test_a_retry_comes_on_top_of_the_first_try() -> None:
    shard = Shard(failing("1")).settle(records(1), max_retries=2)
    assert len(shard.given) == 3
    assert shard.given_up[0].invocations == 3


def test_partial_failures_use_up_tries_as_well() -> None:
    shard = Shard(lambda numbers: reported(numbers[-1])).settle(records(2), max_retries=1)
    assert shard.given == [["1", "2"], ["2"]]
    assert [record.sequence_number for record in shard.given_up[0].records] == ["2"]


def test_without_a_bound_it_is_tried_for_ever() -> None:
    shard = Shard(failing("1"), stop_after=50).settle(records(1))
    assert (len(shard.given), shard.given_up) == (50, [])


def test_what_is_too_old_is_given_up_on_before_it_is_tried() -> None:
    batch = [*records(2, arrived=100.0), Record("3", "key", b"3", 200.0)]
    shard = Shard(lambda _: None, now=261.0).settle(batch, max_age=60)
    assert shard.given == []
    shard = Shard(lambda _: None, now=260.0).settle(batch, max_age=60)
    assert shard.given == [["3"]]
    assert [record.sequence_number for record in shard.given_up[0].records] == ["1", "2"]
    assert (shard.given_up[0].condition, shard.given_up[0].invocations) == (AGE, 0)


def test_what_is_given_up_on_comes_with_the_whole_event() -> None:
    shard = Shard(failing("1")).settle(records(1), max_retries=0)
    (given_up,) = shard.given_up
    assert given_up.event == mapping.event(records(1), "shardId-000000000000", MAPPING.stream_arn)


def test_pauses_grow_to_a_bound_and_start_anew_with_progress() -> None:
    def answer(numbers: list[str]) -> object:
        return reported(numbers[1]) if len(numbers) > 1 and len(shard.given) == 8 else reported(numbers[0])

    shard = Shard(answer, stop_after=10)
    shard.settle(records(3))
    assert shard.pauses[:3] == [2 * FIRST_PAUSE, 4 * FIRST_PAUSE, 8 * FIRST_PAUSE]
    assert shard.pauses[6] == LAST_PAUSE
    assert shard.pauses[7] == FIRST_PAUSE


def test_the_envelope_is_the_documented_one() -> None:
    (record,) = mapping.event([Record("7", "k", b"\xff\x00", 12.5)], "shardId-000000000003", MAPPING.stream_arn)[
        "Records"
    ]
    assert record["eventID"] == "shardId-000000000003:7"
    assert (record["eventSource"], record["eventName"]) == ("aws:kinesis", "aws:kinesis:record")
    assert record["eventSourceARN"] == MAPPING.stream_arn
    assert base64.b64decode(record["kinesis"]["data"]) == b"\xff\x00"
    assert (record["kinesis"]["partitionKey"], record["kinesis"]["approximateArrivalTimestamp"]) == ("k", 12.5)


def test_places_are_those_of_the_batch_and_not_of_text() -> None:
    """The tenth comes after the ninth."""
    assert first_failure(reported("10", "9"), records(10)) == 8


def test_minus_one_is_no_bound() -> None:
    said = {
        "Stream": "arn",
        "StartingPosition": "LATEST",
        "MaximumRetryAttempts": -1,
        "MaximumRecordAgeInSeconds": "60",
    }
    read = mapping.mapping(EventSource("Stream", "Kinesis", said))
    assert (read.max_retries, read.max_age, read.starting_position) == (None, 60, "LATEST")
    assert (read.reports_failures, read.bisects, read.parallelization, read.batch_size) == (False, False, 1, 100)
