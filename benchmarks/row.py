"""One line of the table: what was measured, against what, and whether it is what it must be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement. `score` is held to `at_most` or `at_least`; `ours` and `reference` say what it is made of."""

    what: str
    ours: str
    reference: str
    score: float
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool:
        """Say whether it is what it must be."""
        return (self.at_most is None or self.score <= self.at_most) and (
            self.at_least is None or self.score >= self.at_least
        )

    @property
    def goal(self) -> str:
        """Say what it must be."""
        return f"≤ {self.at_most:g}" if self.at_most is not None else f"≥ {self.at_least:g}"

    def told(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "what": self.what,
            "ours": self.ours,
            "reference": self.reference,
            "score": round(self.score, 3),
            "goal": self.goal,
            "met": self.met,
        }
