"""What is looked at, one thing after the other, and what was found of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cli.aws import AwsError, UnseenError
from cli.report import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class State(StrEnum):
    """How something is. What was not looked at may be well or not; what is skipped hangs on something else."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "FAILED"
    NOT_LOOKED_AT = "not looked at"
    SKIPPED = "skipped"


_NAMED = 5
# With these, what hangs on it can be looked at.
_STANDS = frozenset({State.OK, State.WARNING})


@dataclass(frozen=True, slots=True)
class Finding:
    """How something is, in words, and what to do about it. Holds no credential."""

    state: State
    said: str
    to_do: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Something to look at, unless one of those it `needs`, by their names, does not stand.

    `look` may raise AwsError: UnseenError for what could not be looked at, any other for what is broken.
    """

    name: str
    look: Callable[[], Finding]
    needs: tuple[str, ...] = ()


def ok(said: str) -> Finding:
    """Find it well."""
    return Finding(State.OK, said)


def warning(said: str, to_do: str | None = None) -> Finding:
    """Find something that works, and should not be left so."""
    return Finding(State.WARNING, said, to_do)


def failed(said: str, to_do: str | None = None) -> Finding:
    """Find it broken."""
    return Finding(State.FAILED, said, to_do)


def not_looked_at(said: str, to_do: str | None = None) -> Finding:
    """Find nothing, because it could not be looked at."""
    return Finding(State.NOT_LOOKED_AT, said, to_do)


def skipped(said: str, to_do: str | None = None) -> Finding:
    """Leave it out, because there is nothing to look at."""
    return Finding(State.SKIPPED, said, to_do)


def some(names: Iterable[str]) -> str:
    """Name a few of many."""
    told = [printable(name) for name in names]
    more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
    return f"{', '.join(told[:_NAMED])}{more}"


def examined(checks: Iterable[Check]) -> Iterator[tuple[str, Finding]]:
    """Look at everything in its order, whatever is found, and yield each name with its finding."""
    states: dict[str, State] = {}
    for check in checks:
        lacking = next((need for need in check.needs if states[need] not in _STANDS), None)
        finding = skipped(f"because {lacking} is {states[lacking]}") if lacking else _looked(check)
        states[check.name] = finding.state
        yield check.name, finding


def exit_status(findings: Iterable[Finding]) -> int:
    """Say 1 where something is broken, else 2 where something could not be looked at, else 0."""
    states = {finding.state for finding in findings}
    if State.FAILED in states:
        return 1
    return 2 if State.NOT_LOOKED_AT in states else 0


def _looked(check: Check) -> Finding:
    try:
        return check.look()
    except UnseenError as error:
        return not_looked_at(error.message)
    except AwsError as error:
        return failed(error.message)
    except Exception as error:  # noqa: BLE001 - one surprise must not hide what all the others would have found
        return not_looked_at(f"an answer that is not as documented ({type(error).__name__})")
