from __future__ import annotations

import threading
from itertools import count
from typing import TYPE_CHECKING

import pytest

from cli.ahead import ahead

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_results_come_in_the_order_of_the_things() -> None:
    """Although the first one waits for the second."""
    second = threading.Event()

    def do(thing: int) -> int:
        if thing == 1:
            assert second.wait(5)
        else:
            second.set()
        return thing * 10

    assert list(ahead(2, 2, do, [1, 2, 3])) == [(1, 10), (2, 20), (3, 30)]


def test_no_more_than_a_window_is_taken_before_the_first_is_given() -> None:
    taken: list[int] = []

    def things() -> Iterator[int]:
        for number in count():
            taken.append(number)
            yield number

    results = ahead(2, 3, lambda thing: thing, things())
    assert next(results) == (0, 0)
    assert taken == [0, 1, 2]
    results.close()


def test_at_an_early_end_what_waits_is_told_and_what_is_not_begun_is_not_done() -> None:
    done: list[int] = []
    begun, halt = threading.Event(), threading.Event()

    def do(thing: int) -> None:
        if thing:
            begun.set()
            if not halt.wait(5):
                return
        done.append(thing)

    results = ahead(1, 3, do, [0, 1, 2], halt.set)
    assert next(results) == (0, None)
    assert begun.wait(5)
    results.close()
    assert done == [0, 1]


def test_what_goes_wrong_is_raised_where_it_would_have_been_given() -> None:
    results = ahead(2, 2, lambda thing: 1 // thing, [1, 0])
    assert next(results) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)
