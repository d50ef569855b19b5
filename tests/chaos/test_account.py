"""The account itself notices a difference of one, of every kind."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.chaos.account import Found, draw_up
from tests.chaos.events import Event, Fits, good, poison
from tests.chaos.shipments import Door

RNG = Random(5)  # noqa: S311 - to be repeated, not to be secret
GOOD = [good(index, RNG) for index in range(3)]
BAD = poison(3, RNG, Fits.ANYWHERE)
REFUSED = good(4, RNG)
SENT = {event.index: (Door.HTTP, event) for event in [*GOOD, BAD, REFUSED]}
NAME = (BAD.code or "", BAD.digest)
FOUND = Found([event.raw for event in GOOD], {NAME: BAD.raw}, {NAME}, {NAME})


def _differences(found: Found) -> list[str]:
    return list(draw_up(SENT, {REFUSED.index}, found).differences)


def _kept(event: Event, code: str) -> Found:
    name = (code, event.digest)
    return replace(FOUND, kept={**FOUND.kept, name: event.raw}, explained={NAME, name}, dated={NAME, name})


def test_the_account_closes_when_every_event_is_in_its_place() -> None:
    account = draw_up(SENT, {REFUSED.index}, FOUND)
    assert not account.differences
    assert [row.difference for row in account.rows.values()] == [0]


@pytest.mark.parametrize(
    ("found", "difference"),
    [
        (replace(FOUND, delivered=FOUND.delivered[1:]), "neither delivered nor quarantined: 1 (0)"),
        (replace(FOUND, kept={}), "neither delivered nor quarantined: 1 (3)"),
        (replace(FOUND, delivered=[*FOUND.delivered, GOOD[1].raw]), "delivered more than once: 1 (1)"),
        (_kept(GOOD[2], "backlog_unreachable"), "both delivered and quarantined: 1 (2)"),
        (_kept(BAD, "backlog_unreachable"), f"quarantined as backlog_unreachable, {BAD.code}: 1 (3)"),
        (_kept(REFUSED, "backlog_unreachable"), "refused with 503, and there all the same: 1 (4)"),
        (replace(FOUND, explained=set()), "quarantined without a reason: 1"),
        (replace(FOUND, dated=set()), "quarantined without a day: 1"),
        (replace(FOUND, delivered=[*FOUND.delivered, b"{}"]), "delivered, and sent by nobody: 1"),
    ],
)
def test_a_difference_of_one_is_named_by_the_events_index(found: Found, difference: str) -> None:
    assert difference in _differences(found)


def test_an_event_that_is_delivered_with_another_byte_is_missing_and_a_stranger() -> None:
    changed = replace(FOUND, delivered=[GOOD[0].raw.replace(b"chaos", b"Chaos"), *FOUND.delivered[1:]])
    assert _differences(changed) == ["neither delivered nor quarantined: 1 (0)", "delivered, and sent by nobody: 1"]


def test_the_same_event_in_two_handwritings_is_one_token_too_many() -> None:
    found = replace(FOUND, delivered=[*FOUND.delivered, b" " + GOOD[0].raw])
    assert "tokens that are in DataZone more than once: 1" in _differences(found)
