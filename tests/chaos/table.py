"""The account as a person reads it."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from tests.chaos.account import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.chaos.account import Account
    from tests.chaos.drain import Rest
    from tests.chaos.stand import Stand
    from tests.chaos.tally import Tally

_COLUMNS = ("sent", "delivered", "quarantined", "refused (503)", "difference")


def table(account: Account, tally: Tally, stand: Stand, rest: Rest) -> str:
    """Write the events by door, and below what else there was to count."""
    rows = [*account.rows.items(), ("all", total(account))]
    lines = [_line("", _COLUMNS), *(_line(door, _cells(row)) for door, row in rows)]
    return "\n".join([*lines, "", *_facts(tally, stand, rest)])


def total(account: Account) -> Row:
    """Add up all doors."""
    rows = account.rows.values()
    return Row(
        sent=sum(row.sent for row in rows),
        absent=sum(row.absent for row in rows),
        delivered=sum(row.delivered for row in rows),
        quarantined=sum(row.quarantined for row in rows),
    )


def _cells(row: Row) -> tuple[str, ...]:
    numbers = (row.sent, row.delivered, row.quarantined, row.absent, row.difference)
    return tuple(f"{number:,}" for number in numbers)


def _line(name: str, cells: tuple[str, ...]) -> str:
    return f"{name:<20}" + "".join(f"{cell:>14}" for cell in cells)


def _facts(tally: Tally, stand: Stand, rest: Rest) -> Iterator[str]:
    answers = ", ".join(f"{times:,} times {status}" for status, times in sorted(tally.answers.items()))
    yield f"answers over HTTP     {answers}"
    milliseconds = sorted(1000 * one for one in tally.seconds)
    yield f"  took                {median(milliseconds):,.0f} ms in the middle, {milliseconds[-1]:,.0f} ms at most"
    died = stand.died()
    for function, times in sorted(stand.kills.items()):
        yield f"killed, {function:<13} {times} processes, {died[function]} of them with an invocation to lose"
    for what, times in sorted(rest.moved.items()):
        yield f"{what:<21} {times:,}"
