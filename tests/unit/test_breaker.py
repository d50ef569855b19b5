"""The breaker opens after a few failures in a row, stays open for a while, and lets one event try again."""

from __future__ import annotations

import pytest

from adapter.accept import accept
from adapter.breaker import FAILURES, SECONDS, Breaker
from adapter.model import Cause, Code, Deferred, Delivered, Outcome, Rejected, RunEvent
from tests.fakes import FakeLineage, delivered, run_event


def _event() -> RunEvent:
    verdict = accept(run_event())
    assert isinstance(verdict, RunEvent)
    return verdict


EVENT = _event()


class Behind:
    """A breaker before a DataZone that answers `outcome`, and a clock set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.outcome: Outcome = Deferred(Cause.TIMEOUT)
        self.lineage = FakeLineage(lambda _: self.outcome)
        self.breaker = Breaker(self.lineage, lambda: self.now)

    def send(self, times: int = 1) -> list[Outcome]:
        return [self.breaker.deliver(EVENT, 0.0) for _ in range(times)]


def test_while_datazone_answers_it_is_asked() -> None:
    behind = Behind()
    behind.outcome = delivered(EVENT)
    assert all(isinstance(outcome, Delivered) for outcome in behind.send(20))
    assert len(behind.lineage.given) == 20


def test_after_a_few_failures_in_a_row_nobody_waits_any_more() -> None:
    behind = Behind()
    behind.send(FAILURES)
    assert behind.send(20) == [Deferred(Cause.BREAKER_OPEN, EVENT.client_token)] * 20
    assert len(behind.lineage.given) == FAILURES


@pytest.mark.parametrize("between", [delivered(EVENT), Rejected(Code.REFUSED_BY_DATAZONE, "no")])
def test_an_answer_in_between_starts_the_count_anew(between: Outcome) -> None:
    behind = Behind()
    behind.send(FAILURES - 1)
    behind.outcome = between
    behind.send()
    behind.outcome = Deferred(Cause.TIMEOUT)
    behind.send(FAILURES - 1)
    assert len(behind.lineage.given) == 2 * FAILURES - 1


@pytest.mark.parametrize("cause", [Cause.CONFLICT, Cause.NOT_STARTED])
def test_what_says_nothing_about_datazone_does_not_open_it(cause: Cause) -> None:
    behind = Behind()
    behind.outcome = Deferred(cause)
    behind.send(20)
    assert len(behind.lineage.given) == 20


def test_after_a_while_one_event_tries_and_finds_it_still_away() -> None:
    behind = Behind()
    behind.send(FAILURES)
    behind.now += SECONDS - 0.1
    behind.send()
    assert len(behind.lineage.given) == FAILURES
    behind.now += 0.2
    behind.send(5)
    assert len(behind.lineage.given) == FAILURES + 1


def test_after_a_while_one_event_tries_and_finds_it_back() -> None:
    behind = Behind()
    behind.send(FAILURES)
    behind.now += SECONDS
    behind.outcome = delivered(EVENT)
    assert all(isinstance(outcome, Delivered) for outcome in behind.send(5))
