"""Options that several commands share, and the dataclasses that hold what was typed."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance


def all_of[F: Callable[..., object]](*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Give a decorator that adds click options to a command, in this order."""

    def decorated(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def pick[T: DataclassInstance](kind: type[T], given: Mapping[str, object]) -> T:
    """Make a dataclass of those options that its fields are named after."""
    return kind(**{field.name: given[field.name] for field in fields(kind)})


def words(typed: DataclassInstance) -> list[str]:
    """Give the command line's words for those fields that hold a text."""
    named = {f"--{field.name.replace('_', '-')}": getattr(typed, field.name) for field in fields(typed)}
    return [word for option, value in named.items() if isinstance(value, str) for word in (option, value)]
