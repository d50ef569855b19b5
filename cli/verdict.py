"""What became of one event, read from the answer to it (the HTTP contract)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Taken by DataZone, taken by the backlog, refused for its own fault, or taken by nobody."""

    DELIVERED = "delivered"
    DEFERRED = "deferred"
    REJECTED = "rejected"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one event; `status` is HTTP's, `code` says why, `path` is a JSON Pointer to its first error.

    `quarantine_key` is where the adapter keeps what it refused.
    """

    outcome: Outcome
    status: int | None = None
    code: str | None = None
    path: str | None = None
    quarantine_key: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether sending the same bytes again could change nothing."""
        return self.outcome is not Outcome.FAILED

    def __str__(self) -> str:
        """Say it in a line; holds nothing of the event but the path."""
        why = " ".join(str(part) for part in (self.status, self.code) if part is not None)
        return f"{self.outcome}{', ' if why else ''}{why}{f' at {self.path}' if self.path else ''}"


# The type of each problem the adapter answers with, before the problem's code.
_PROBLEM = "urn:lineage-adapter:problem:"
_REFUSALS = frozenset({400, 403, 413, 415, 422})
# Said of whoever sends and not of what is sent.
_STRANGERS = frozenset({"unknown_producer"})
# With these a gateway, a function or the adapter says "not now".
_NOT_NOW = frozenset({429, 500, 502, 503, 504})


def read(status: int, body: bytes) -> Verdict | None:
    """Read an answer; None when the adapter gives no such answer, so something else must have."""
    said = _object(body)
    code = _text(said.get("code")) if str(said.get("type")).startswith(_PROBLEM) else None
    if status == 200 and said.get("status") == "delivered":  # noqa: PLR2004 - HTTP's numbers are their own names
        return Verdict(Outcome.DELIVERED, status)
    if status == 202 and (code or said.get("status") == "deferred"):  # noqa: PLR2004 - the same
        return Verdict(Outcome.DEFERRED, status, code)
    if status in _REFUSALS and code and code not in _STRANGERS:
        key = _text(said.get("quarantineKey"))
        return Verdict(Outcome.REJECTED, status, code, _first_path(said.get("errors")), key)
    if status == 413:  # noqa: PLR2004 - the gateway's own, for more than it lets through; it knows no codes
        return Verdict(Outcome.REJECTED, status, "too_large")
    if status in _NOT_NOW:
        return Verdict(Outcome.FAILED, status, code or "no_answer")
    return None


def _object(body: bytes) -> dict[str, object]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _first_path(errors: object) -> str | None:
    first = errors[0] if isinstance(errors, list) and errors else None
    return _text(first.get("path")) if isinstance(first, dict) else None
