from __future__ import annotations

from dataclasses import replace

from adapter.accept import accept
from adapter.memory import Remembering
from adapter.model import Call, Cause, Code, Deferred, Outcome, Rejected, RunEvent
from tests.fakes import FakeLineage, delivered, run_event


def _event(run: int) -> RunEvent:
    verdict = accept(run_event(run))
    assert isinstance(verdict, RunEvent)
    return verdict


def test_what_was_just_delivered_is_not_sent_again() -> None:
    lineage = FakeLineage()
    memory = Remembering(lineage)
    first = memory.deliver(_event(1), 0.0)
    assert memory.deliver(_event(1), 0.0) == first
    memory.deliver(_event(2), 0.0)
    assert [event.run_id[-1] for event in lineage.given] == ["1", "2"]


def test_a_delivery_that_is_repeated_from_memory_is_no_call_of_datazone_s() -> None:
    """Or its time would be counted again with each redelivery."""
    called = replace(delivered(_event(1)), calls=(Call(0.5),))
    memory = Remembering(FakeLineage(lambda _: called))
    assert [memory.deliver(_event(1), 0.0).calls for _ in range(2)] == [(Call(0.5),), ()]


def test_what_was_not_delivered_is_tried_again() -> None:
    outcomes: list[Outcome] = [Deferred(Cause.TIMEOUT), Rejected(Code.REFUSED_BY_DATAZONE, "no"), delivered(_event(1))]
    lineage = FakeLineage(lambda _: outcomes[len(lineage.given) - 1])
    memory = Remembering(lineage)
    assert [memory.deliver(_event(1), 0.0) for _ in range(4)] == [*outcomes, outcomes[-1]]


def test_the_memory_is_bounded() -> None:
    lineage = FakeLineage()
    memory = Remembering(lineage, remembered=2)
    for run in (1, 2, 3, 2, 3, 1):
        memory.deliver(_event(run), 0.0)
    assert [event.run_id[-1] for event in lineage.given] == ["1", "2", "3", "1"]
