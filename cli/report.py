"""What a person or a machine sees of a replay: progress and troubles on stderr, the summary on stdout."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from cli.sources import Item

# Where nobody watches, a line now and then is enough.
_SECONDS_BETWEEN_LINES = 10.0
_TROUBLES = (Outcome.REJECTED, Outcome.FAILED)


def printable(text: str) -> str:
    """Escape what a terminal would act on or cannot show: names and paths are other people's words."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class Report:
    """Counts verdicts and shows them as they come. A context manager around the progress bar."""

    def __init__(self, endpoint: str, total: int | None) -> None:
        """Expect `total` events, if that is known."""
        self._endpoint = endpoint
        self._total = total
        self._counts: Counter[Outcome] = Counter()
        self._codes: Counter[tuple[Outcome, str]] = Counter()
        self._troubles: list[tuple[str, Verdict]] = []
        self._console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=self._console, disable=not self._console.is_terminal)
        self._task = self._bar.add_task("", total=total)
        self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES

    def __enter__(self) -> Self:
        """Show the bar, on a terminal."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Leave the bar as it is."""
        self._bar.stop()

    @property
    def all_taken(self) -> bool:
        """Whether every event so far is delivered or deferred."""
        return not any(self._counts[outcome] for outcome in _TROUBLES)

    @property
    def failed(self) -> int:
        """How many events were taken by nobody."""
        return self._counts[Outcome.FAILED]

    def note(self, text: str) -> None:
        """Show a line at once."""
        self._console.print(printable(text), soft_wrap=True)

    def add(self, item: Item, verdict: Verdict) -> None:
        """Count one verdict, and show it if it is trouble."""
        self._counts[verdict.outcome] += 1
        if verdict.outcome in _TROUBLES:
            self._codes[verdict.outcome, verdict.code or "unknown"] += 1
            self._troubles.append((item.name, verdict))
            self.note(f"{item.name}: {verdict}")
        self._bar.update(self._task, advance=1, description=self._so_far())
        if self._bar.disable and time.monotonic() > self._next_line:
            self._next_line = time.monotonic() + _SECONDS_BETWEEN_LINES
            self.note(f"{self._done()}{f' of {self._total}' if self._total is not None else ''}: {self._so_far()}")

    def summary(self) -> str:
        """Give the counts by outcome, with the codes of what was refused or failed."""
        counts = [(outcome.value, self._counts[outcome], self._reasons(outcome)) for outcome in Outcome]
        if unsent := self._unsent():
            counts.append(("not sent", unsent, ""))
        width = max(len(str(count)) for _, count, _ in counts)
        return "\n".join(f"{name:9} {count:{width}}  {reasons}".rstrip() for name, count, reasons in counts)

    def as_json(self, stopped: str | None, resume: str | None) -> str:
        """Give the summary as one JSON object, every rejected or failed event by name included."""
        troubles = [
            {"name": name, "outcome": one.outcome, "status": one.status, "code": one.code, "path": one.path}
            for name, one in self._troubles
        ]
        counts = {outcome.value: self._counts[outcome] for outcome in Outcome} | {"unsent": self._unsent()}
        codes = {outcome.value: self._by_code(outcome) for outcome in _TROUBLES}
        whole = {"url": self._endpoint, "counts": counts, "codes": codes, "troubles": troubles}
        return json.dumps(whole | {"stopped": stopped, "resume": resume}, indent=2)

    def _done(self) -> int:
        return self._counts.total()

    def _unsent(self) -> int | None:
        return None if self._total is None else max(0, self._total - self._done())

    def _so_far(self) -> str:
        return ", ".join(f"{self._counts[outcome]} {outcome}" for outcome in Outcome if self._counts[outcome])

    def _by_code(self, outcome: Outcome) -> dict[str, int]:
        return {code: times for (found, code), times in self._codes.most_common() if found is outcome}

    def _reasons(self, outcome: Outcome) -> str:
        return ", ".join(f"{printable(code)} {times}" for code, times in self._by_code(outcome).items())
