"""As much of CloudWatch Logs Insights' query language as the template's queries use, run over lines of a log.

Source: Amazon CloudWatch Logs user guide, "CloudWatch Logs Insights language query syntax". What is not known here is
an error, so that no query passes with a word that nobody has looked up.
"""

from __future__ import annotations

import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

type Row = Mapping[str, Any]
type Term = Callable[[Row], Any]
type Total = Callable[[Sequence[Row]], Any]

_TOKEN = re.compile(r'\s*("[^"]*"|@?[A-Za-z_][\w.]*|\d+[a-z]*|!=|[=<>()\[\],*-])')
_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {"=": operator.eq, "!=": operator.ne, ">": operator.gt}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "coalesce": lambda *values: next((value for value in values if value is not None), None),
    "ispresent": lambda value: value is not None,
    "strcontains": lambda text, part: int(part in (text or "")),
    "bin": lambda span: f"in {span}",
}
_TOTALS: Mapping[str, Callable[..., Any]] = {
    "count": len,
    "sum": sum,
    "min": min,
    "max": max,
    "earliest": lambda values: values[0],
    "latest": lambda values: values[-1],
    # The nearest rank: what lies between two values may be a rounding error above the larger.
    "pct": lambda values, share: sorted(values)[math.ceil(len(values) * share / 100) - 1],
}


class QueryError(Exception):
    """The query is not one, or has a word that is not known here."""


class Query:
    """A query, read; `fields` are those that it asks for and does not make itself."""

    def __init__(self, text: str) -> None:
        """Read `text`; raise QueryError."""
        plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
        self.fields: set[str] = set()
        self._made: set[str] = set()
        self._steps = [self._command(_Words(command)) for command in plain.split("|")]

    def run(self, lines: Iterable[Row]) -> list[Row]:
        """Give the rows that it makes of `lines`, which are in the order of their times."""
        rows: list[Row] = [{**_flat(line), "@timestamp": moment} for moment, line in enumerate(lines)]
        for step in self._steps:
            rows = step(rows)
        return rows

    def _command(self, words: _Words) -> Callable[[list[Row]], list[Row]]:
        match words.take():
            case "filter":
                holds = self._either(words)
                words.end()
                return lambda rows: [row for row in rows if holds(row)]
            case "fields":
                made = self._listed(words, self._either)
                return lambda rows: [{**row, **{name: term(row) for name, term in made.items()}} for row in rows]
            case "stats":
                return self._stats(words)
            case "sort":
                (name, _), downwards = self._field(words.take()), words.take() == "desc"
                words.end()
                return lambda rows: sorted(rows, key=lambda row: row[name], reverse=downwards)
            case "limit":
                most = int(words.take())
                words.end()
                return lambda rows: rows[:most]
            case other:
                raise QueryError(f"no command: {other}")

    def _stats(self, words: _Words) -> Callable[[list[Row]], list[Row]]:
        totals = self._listed(words, self._total)
        by = self._listed(words, self._either) if words.take() == "by" else {}

        def grouped(rows: list[Row]) -> list[Row]:
            groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
            for row in rows:
                groups[tuple(term(row) for term in by.values())].append(row)
            return [
                dict(zip(by, key, strict=True)) | {name: total(some) for name, total in totals.items()}
                for key, some in groups.items()
            ]

        # What is not counted or grouped by is gone.
        self._made |= totals.keys() | by.keys()
        return grouped

    def _listed[T](self, words: _Words, one: Callable[[_Words], T]) -> dict[str, T]:
        found: dict[str, T] = {}
        while True:
            start = words.place
            term = one(words)
            text = words.since(start)
            if words.next() == "as":
                words.take()
                text = words.take()
                self._made.add(text)
            found[text] = term
            if words.next() != ",":
                return found
            words.take()

    def _total(self, words: _Words) -> Total:
        name = words.take()
        if name not in _TOTALS or words.take() != "(":
            raise QueryError(f"no aggregation: {name}")
        if words.next() == "*":
            words.take()
            words.take()
            return len
        first, *more = self._arguments(words)
        return lambda rows: _TOTALS[name](
            [value for row in rows if (value := first(row)) is not None] or [None], *(term({}) for term in more)
        )

    def _arguments(self, words: _Words) -> list[Term]:
        found = [self._either(words)]
        while words.take() == ",":
            found.append(self._either(words))
        return found

    def _either(self, words: _Words) -> Term:
        found = [self._all(words)]
        while words.next() == "or":
            words.take()
            found.append(self._all(words))
        return found[0] if len(found) == 1 else lambda row: any(term(row) for term in found)

    def _all(self, words: _Words) -> Term:
        found = [self._compared(words)]
        while words.next() == "and":
            words.take()
            found.append(self._compared(words))
        return found[0] if len(found) == 1 else lambda row: all(term(row) for term in found)

    def _compared(self, words: _Words) -> Term:
        left = self._single(words)
        match words.next():
            case "=" | "!=" | ">" as sign:
                words.take()
                right = self._single(words)
                return lambda row: _COMPARED[sign](left(row), right(row))
            case "-":
                words.take()
                less = self._single(words)
                return lambda row: left(row) - less(row)
            case "in":
                words.take()
                words.take()
                among = self._arguments(words)
                return lambda row: left(row) in [term(row) for term in among]
        return left

    def _single(self, words: _Words) -> Term:
        word = words.take()
        if word.startswith('"'):
            return lambda _: word.strip('"')
        if word[0].isdigit():
            return lambda _: int(word) if word.isdigit() else word
        if words.next() != "(":
            return self._field(word)[1]
        words.take()
        function, arguments = _FUNCTIONS.get(word), self._arguments(words)
        if function is None:
            raise QueryError(f"no function: {word}")
        return lambda row: function(*(term(row) for term in arguments))

    def _field(self, name: str) -> tuple[str, Term]:
        if name not in self._made:
            self.fields.add(name)
        return name, lambda row: row.get(name)


class _Words:
    """The words of one command, taken one after the other."""

    def __init__(self, text: str) -> None:
        self._words = _TOKEN.findall(text)
        self.place = 0
        if "".join(self._words) != re.sub(r"\s(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", "", text):
            raise QueryError(f"not to be read: {text}")

    def next(self) -> str:
        return self._words[self.place] if self.place < len(self._words) else ""

    def take(self) -> str:
        word = self.next()
        self.place += 1
        return word

    def since(self, place: int) -> str:
        return "".join(self._words[place : self.place])

    def end(self) -> None:
        if self.next():
            raise QueryError(f"too much: {self.next()}")


def _flat(value: object, name: str = "") -> dict[str, Any]:
    """Name what is inside of objects and lists by the way to it, as in errors.0.path."""
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        inner = [_flat(one, f"{name}.{step}" if name else str(step)) for step, one in pairs]
        return {key: leaf for one in inner for key, leaf in one.items()}
    return {name: value}
