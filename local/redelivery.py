"""What Lambda does with a batch of a Kinesis shard until each of its records is handled or given up on.

Sources: AWS Lambda developer guide, "Process Amazon Kinesis Data Streams records with Lambda", "Reporting batch item
failures for Kinesis" and "Retain discarded batch records for a Kinesis Data Streams event source". Not documented and
decided here: how long Lambda waits before it tries again, that the tries of what is left after a partial failure count
on, and that an identifier which is not in the batch fails all of it, as an empty one does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from local.mapping import event
from local.runtime import FunctionError, InitError, NoSandboxError, PayloadTooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local.mapping import Record, StreamMapping

# Seconds before the next try: doubling from the first to the last.
FIRST_PAUSE = 0.2
LAST_PAUSE = 5.0

AGE, ATTEMPTS = "RecordAgeExceeded", "RetryAttemptsExhausted"


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Records that Lambda will not try again: `event` is how they were, or would have been, given to the function."""

    shard_id: str
    records: Sequence[Record]
    condition: str
    invocations: int
    event: object


class Destination(Protocol):
    """Where Lambda writes what it gives up on."""

    def keep(self, given_up: GivenUp) -> None:
        """Write it."""


class Clock(Protocol):
    """Time, and when to stop."""

    def now(self) -> float:
        """Give the seconds since 1970."""

    def wait(self, seconds: float) -> bool:
        """Wait so long; say whether to stop for good."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A batch or what is left of it, and how often it was tried."""

    records: Sequence[Record]
    invocations: int = 0


class Redelivery:
    """The rules, for one shard of one mapping."""

    def __init__(
        self,
        mapping: StreamMapping,
        shard_id: str,
        invoke: Callable[[object], object],
        destination: Destination,
        clock: Clock,
    ) -> None:
        """Invoke with `invoke`, and write to `destination` what is given up on."""
        self._mapping = mapping
        self._shard_id = shard_id
        self._invoke = invoke
        self._destination = destination
        self._clock = clock

    def settle(self, batch: Sequence[Record]) -> None:
        """Have `batch`, records in the order of the shard, handled or given up on."""
        pieces, pause = deque([_Piece(batch)]), FIRST_PAUSE
        while pieces:
            piece = self._young(pieces.popleft())
            rest = self._tried(piece) if piece.records else []
            pieces.extendleft(reversed(rest))
            if not rest:
                continue
            progress = sum(len(one.records) for one in rest) < len(piece.records)
            pause = FIRST_PAUSE if progress else min(pause * 2, LAST_PAUSE)
            if self._clock.wait(pause):
                return

    def _young(self, piece: _Piece) -> _Piece:
        """Give up on what is too old."""
        if self._mapping.max_age is None:
            return piece
        oldest = self._clock.now() - self._mapping.max_age
        old = [record for record in piece.records if record.arrived < oldest]
        if old:
            self._give_up(replace(piece, records=old), AGE)
        return replace(piece, records=[record for record in piece.records if record.arrived >= oldest])

    def _tried(self, piece: _Piece) -> list[_Piece]:
        """Invoke with the whole piece; give what is to be tried again, in order."""
        try:
            answer = self._invoke(event(piece.records, self._shard_id, self._mapping.stream_arn))
        except (FunctionError, InitError, PayloadTooLargeError, NoSandboxError):
            return self._failed(piece)
        first = first_failure(answer, piece.records) if self._mapping.reports_failures else len(piece.records)
        if first is None:
            return self._failed(piece)
        return self._again(_Piece(piece.records[first:], piece.invocations + 1))

    def _failed(self, piece: _Piece) -> list[_Piece]:
        """Split what failed as a whole, which does not count as a try, or try it again as it is."""
        if self._mapping.bisects and len(piece.records) > 1:
            middle = len(piece.records) // 2
            return [replace(piece, records=half) for half in (piece.records[:middle], piece.records[middle:])]
        return self._again(replace(piece, invocations=piece.invocations + 1))

    def _again(self, piece: _Piece) -> list[_Piece]:
        if not piece.records:
            return []
        if self._mapping.max_retries is not None and piece.invocations > self._mapping.max_retries:
            self._give_up(piece, ATTEMPTS)
            return []
        return [piece]

    def _give_up(self, piece: _Piece, condition: str) -> None:
        given = event(piece.records, self._shard_id, self._mapping.stream_arn)
        self._destination.keep(GivenUp(self._shard_id, piece.records, condition, piece.invocations, given))


def first_failure(answer: object, records: Sequence[Record]) -> int | None:
    """Give the place of the first record that a partial batch response reports, len(records) for none.

    None when the response is not one, which fails the whole batch.
    """
    if not answer:
        return len(records)
    if not isinstance(answer, dict):
        return None
    places = {record.sequence_number: place for place, record in enumerate(records)}
    failures = answer.get("batchItemFailures") or []
    try:
        return min((places[failure["itemIdentifier"]] for failure in failures), default=len(records))
    except (KeyError, TypeError):
        return None
