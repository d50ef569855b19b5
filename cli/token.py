"""`lineage-adapter token`: who may write lineage, and the tokens they come with."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from cli import aws, options
from cli.producers import MAX_BYTES, ProducersError, Secret, size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter.producers import Producer, Producers, Token

_UNITS = {"s": 1, "m": 60, "h": 60 * 60, "d": 24 * 60 * 60}
_COLUMNS = ("PRODUCER", "TOKEN", "ISSUED", "EXPIRES", "MAY WRITE TO")
# From here on it is said how large the secret is.
_NEARLY_FULL = 0.8


class _Duration(click.ParamType[int]):
    """A time to come, as 90d, 24h, 30m or 45s; in seconds."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"([0-9]{1,6})([smhd])", str(value))
        if not match:
            self.fail("a duration is written like 90d, 24h, 30m or 45s.", param, ctx)
        return int(match[1]) * _UNITS[match[2]]


_DURATION = _Duration()
_NAMESPACES = click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="GLOB",
    help="A job namespace that it may write to, or a pattern of them: * is anything, ? one character. May be repeated.",
)
_EXPIRES = click.option(
    "--expires",
    "seconds",
    type=_DURATION,
    metavar="DURATION",
    help="How long the token is good, like 90d; for ever without.",
)
_WHERE = (
    aws.stack_option,
    click.option("--secret", metavar="ARN", help="The secret of producers; or name the stack."),
    aws.endpoint_url_option,
)


@dataclass(frozen=True, slots=True)
class Where:
    """The secret, named itself or by its stack, as typed."""

    stack: str | None
    secret: str | None
    endpoint_url: str | None

    @contextmanager
    def open(self) -> Iterator[Secret]:
        """Give the secret; raise UsageError, AwsError, and ClickException for what cannot be done with it."""
        if not (self.secret or self.stack):
            raise click.UsageError("name the adapter's stack with --stack, or the secret with --secret")
        named = self.secret or aws.output(str(self.stack), "ProducersSecretArn", self.endpoint_url)
        client = aws.secretsmanager(self.endpoint_url)
        try:
            with aws.explained("the secret of producers"):
                yield Secret(client, named)
        except ProducersError as error:
            raise click.ClickException(str(error)) from None


@click.group()
def token() -> None:
    """Say who may write lineage. A token is shown once; only its hash is kept."""


@token.command()
@click.argument("name")
@options.all_of(_NAMESPACES, _EXPIRES, *_WHERE)
def issue(name: str, namespaces: tuple[str, ...], seconds: int | None, **given: object) -> None:
    """Give a new token to producer NAME, and print it alone on standard output.

    A new producer needs --namespace; one that is known keeps its own, and its other tokens.
    """
    with options.pick(Where, given).open() as secret:
        click.echo(secret.issue(name, namespaces, seconds))
        _note(f"{name} has a new token{_until(seconds)}. It cannot be shown again.")
        _said(secret.producers(), name)


@token.command()
@click.argument("name")
@click.option(
    "--overlap",
    type=_DURATION,
    default="24h",
    show_default=True,
    metavar="DURATION",
    help="How long the tokens that it has are still good.",
)
@options.all_of(_EXPIRES, *_WHERE)
def rotate(name: str, overlap: int, seconds: int | None, **given: object) -> None:
    """Give a new token to producer NAME, print it alone on standard output, and let the others run out."""
    with options.pick(Where, given).open() as secret:
        click.echo(secret.rotate(name, overlap, seconds))
        _note(f"{name} has a new token{_until(seconds)}. It cannot be shown again; its others are over in time.")
        _said(secret.producers(), name)


@token.command()
@click.argument("name")
@options.all_of(_NAMESPACES, *_WHERE)
def allow(name: str, namespaces: tuple[str, ...], **given: object) -> None:
    """Let producer NAME write to these job namespaces and to no others.

    A NAME that is not known becomes a producer without a token: one that comes with a JWT (Access=jwt).
    """
    if not namespaces:
        raise click.UsageError("say what it may write to with --namespace")
    with options.pick(Where, given).open() as secret:
        secret.allow(name, namespaces)
        _said(secret.producers(), name)


@token.command()
@click.argument("name")
@click.option("--token", "token_id", metavar="ID", help="Only the token with this id (token list).")
@options.all_of(*_WHERE)
def revoke(name: str, token_id: str | None, **given: object) -> None:
    """Let nobody in as producer NAME any more: its tokens and its namespaces are forgotten."""
    with options.pick(Where, given).open() as secret:
        secret.revoke(name, token_id)
        what = f"Token {token_id} of {name}" if token_id else name
        _note(f"{what} is revoked. Where it was let in just now, that is believed for two minutes at most,")
        _note("or for AuthorizerCacheSeconds and one minute, if the stack has another value of that.")


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each producer instead.")
@options.all_of(*_WHERE)
def list_(*, as_json: bool, **given: object) -> None:
    """List the producers, the ids of their tokens, and what they may write to."""
    with options.pick(Where, given).open() as secret:
        known = secret.producers()
    if as_json:
        for producer in known.values():
            click.echo(json.dumps(_object(producer)))
        return
    rows = [_COLUMNS, *(row for producer in known.values() for row in _rows(producer))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    _note(f"{len(known):,} producers; the secret has {size(known):,} of {MAX_BYTES:,} bytes")


def _rows(producer: Producer) -> Iterator[tuple[str, ...]]:
    namespaces = " ".join(producer.namespaces)
    if not producer.tokens:
        yield producer.name, "-", "-", "-", namespaces
    for one in producer.tokens:
        yield producer.name, one.token_id, _time(one.issued), _expires(one), namespaces


def _object(producer: Producer) -> dict[str, object]:
    tokens = [{"id": one.token_id, "issued": _time(one.issued), "expires": _expires(one)} for one in producer.tokens]
    return {"producer": producer.name, "namespaces": producer.namespaces, "tokens": tokens}


def _expires(one: Token) -> str:
    if one.expires is None:
        return "never"
    return f"{_time(one.expires)}{' (over)' if one.expired(time.time()) else ''}"


def _time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _until(seconds: int | None) -> str:
    return "" if seconds is None else f", good until {_time(int(time.time()) + seconds)}"


def _said(known: Producers, name: str) -> None:
    _note(f"{name} may write to: {' '.join(known[name].namespaces)}")
    if (used := size(known)) > _NEARLY_FULL * MAX_BYTES:
        _note(f"The secret has {used:,} of {MAX_BYTES:,} bytes; revoke tokens and producers that nobody uses.")


def _note(text: str) -> None:
    click.echo(text, err=True)
