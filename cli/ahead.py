"""Things done side by side and given in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from concurrent.futures import Future


def ahead[T, R](
    lanes: int, window: int, do: Callable[[T], R], things: Iterable[T], ending: Callable[[], object] = lambda: None
) -> Generator[tuple[T, R]]:
    """Yield each thing with what `do` makes of it, in the order of `things`, whatever order they are done in.

    At most `lanes` are under way at a time, and at most `window` are taken before the first of them is yielded. At the
    end, also an early one, `ending` is called, what is not begun is not done, and what is begun is waited for.
    """
    under_way: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(lanes) as pool:
        try:
            for thing in things:
                under_way.append((thing, pool.submit(do, thing)))
                if len(under_way) == window:
                    yield _first(under_way)
            while under_way:
                yield _first(under_way)
        finally:
            ending()
            pool.shutdown(wait=False, cancel_futures=True)


def _first[T, R](under_way: deque[tuple[T, Future[R]]]) -> tuple[T, R]:
    thing, done = under_way.popleft()
    return thing, done.result()
