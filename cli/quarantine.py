"""`lineage-adapter quarantine`: what was refused and why, as a list, one by one, and sent again."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adapter.model import Code
from cli import address, aws, options, stored
from cli.ahead import ahead
from cli.bucket import DAYS, QUARANTINE, Bucket, event_key, event_name, marker, reason_key
from cli.report import printable
from cli.sending import EXIT_STATUS, SENDING_OPTIONS, Sending, send

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cli.sources import Item

_COLUMNS = ("CODE", "DAYS", "JOB", "PRODUCER", "SOURCE", "BYTES", "FIRST ERROR", "KEY")
_UNKNOWN = "-"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which quarantined events are meant; what is None or empty leaves out nothing. Days are in UTC."""

    codes: tuple[str, ...]
    day: str | None
    since: str | None
    job_namespace: str | None
    producer: str | None

    def __post_init__(self) -> None:
        """Raise UsageError for what cannot be meant together."""
        if self.day and self.since:
            raise click.UsageError("--day or --since, not both")

    @property
    def by_day(self) -> bool:
        """Whether days say which events are meant."""
        return bool(self.day or self.since)

    @property
    def by_reason(self) -> bool:
        """Whether an event's reason has to be read to know if it is meant."""
        return self.job_namespace is not None or self.producer is not None

    def fits(self, reason: dict[str, Any]) -> bool:
        """Say whether an event refused for `reason` is meant, as far as its reason goes."""
        return (self.job_namespace is None or reason.get("job_namespace") == self.job_namespace) and (
            self.producer is None or reason.get("producer") == self.producer
        )

    def words(self) -> list[str]:
        """Give the options that say the same."""
        return [word for code in self.codes for word in ("--code", code)] + options.words(self)


@dataclass(frozen=True, slots=True)
class Listed:
    """One quarantined event: its name, `<code>/<sha256>`, the days it came on and why it was refused."""

    name: str
    days: tuple[str, ...]
    reason: dict[str, Any]

    @property
    def code(self) -> str:
        """Why it was refused, in a word."""
        return self.name.split("/")[0]

    def columns(self) -> tuple[str, ...]:
        """Give its row of the table."""
        said = {key: _UNKNOWN if value is None else str(value) for key, value in self.reason.items()}
        job = f"{said['job_namespace']}/{said['job_name']}" if said.get("job_name", _UNKNOWN) != _UNKNOWN else _UNKNOWN
        cells = (said.get(key, _UNKNOWN) for key in ("producer", "source", "bytes"))
        row = (self.code, _span(self.days), job, *cells, self._first_error(), event_key(self.name))
        return tuple(printable(cell) for cell in row)

    def as_object(self) -> str:
        """Give it as a JSON object in one line."""
        return json.dumps({"key": event_key(self.name), "code": self.code, "days": self.days} | self.reason)

    def _first_error(self) -> str:
        for error in self.reason.get("errors") or ():
            return f"{error['path'] or 'the event'} {error['rule']}"
        return _UNKNOWN


def _day(_: click.Context, __: click.Parameter, value: Any) -> str | None:  # noqa: ANN401 - a datetime, click says
    return None if value is None else f"{value:%Y-%m-%d}"


_BUCKET_OPTIONS = (
    click.option("--bucket", metavar="NAME", help="The quarantine bucket; or name the stack."),
    aws.stack_option,
    aws.endpoint_url_option,
)
_DAY = click.DateTime(["%Y-%m-%d"])
_FILTER_OPTIONS = (
    click.option(
        "--code",
        "codes",
        multiple=True,
        metavar="CODE",
        type=click.Choice([code.value for code in Code]),
        help="Why it was refused, as schema_violation; may be given several times.",
    ),
    click.option("--day", type=_DAY, metavar="YYYY-MM-DD", callback=_day, help="The day it came (UTC)."),
    click.option("--since", type=_DAY, metavar="YYYY-MM-DD", callback=_day, help="It came that day or later (UTC)."),
    click.option("--job-namespace", metavar="NAMESPACE", help="Its job's namespace, exactly."),
    click.option("--producer", metavar="NAME", help="Who sent it, exactly."),
)


@click.group()
def quarantine() -> None:
    """See what was refused and why, and send it again."""


@quarantine.command("list")
@options.all_of(*_BUCKET_OPTIONS, *_FILTER_OPTIONS)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event instead.")
def list_(*, as_json: bool, **given: object) -> None:
    """List what is in quarantine: the code, the days it came on, the job, the first error, the key."""
    found = listed(options.pick(Where, given).open(), options.pick(Filters, given))
    if as_json:
        for one in found:
            click.echo(one.as_object())
    else:
        _table(found)


@quarantine.command()
@click.argument("which", metavar="KEY")
@options.all_of(*_BUCKET_OPTIONS)
@click.option("--bytes", "as_bytes", is_flag=True, help="Write its exact bytes to stdout instead, if no terminal.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write its exact bytes to a file.")
def show(which: str, *, as_bytes: bool, output: Path | None, **given: object) -> None:
    """Show why one event was refused, or get its bytes.

    KEY is its key as in the list, or the beginning of its SHA-256.
    """
    if as_bytes and output is None and sys.stdout.isatty():
        raise click.UsageError("an event's bytes may do anything to a terminal; pipe them somewhere, or --output FILE")
    bucket = options.pick(Where, given).open()
    name = _one(bucket, which)
    if as_bytes or output:
        _write(bucket, event_key(name), output)
    else:
        click.echo(json.dumps({"key": event_key(name)} | _reason(bucket, name), indent=2))


@quarantine.command("replay", epilog=EXIT_STATUS)
@options.all_of(*_BUCKET_OPTIONS, *_FILTER_OPTIONS, address.stack_url_option, *SENDING_OPTIONS)
@click.pass_context
def replay_(context: click.Context, /, **given: object) -> None:
    """Send quarantined events again; without a filter, all of them.

    What is taken is moved to replayed/ in the same bucket; what is refused again stays. To do it twice is harmless.
    """
    where, filters = options.pick(Where, given), options.pick(Filters, given)
    sending = options.pick(Sending, given | {"url": given["url"] or where.endpoint()})
    again = ["lineage-adapter", "quarantine", "replay", *where.words(), *filters.words(), *sending.words()]
    context.exit(send(sending, Chosen(where.open(), filters), shlex.join(again)))


@dataclass(frozen=True, slots=True)
class Where:
    """The bucket, named itself or by its stack, as typed."""

    bucket: str | None
    stack: str | None
    endpoint_url: str | None

    def open(self) -> Bucket:
        """Give the bucket; raise UsageError or AwsError."""
        if not (self.bucket or self.stack):
            raise click.UsageError("name the bucket with --bucket, or the adapter's stack with --stack")
        name = self.bucket or aws.output(str(self.stack), "QuarantineBucketName", self.endpoint_url)
        return Bucket(aws.s3(self.endpoint_url), name)

    def endpoint(self) -> str:
        """Look up where the stack's adapter takes events; raise UsageError or AwsError."""
        if not self.stack:
            raise click.UsageError("name the adapter with --url, or its stack with --stack")
        return address.endpoint(aws.output(self.stack, "Url", self.endpoint_url))

    def words(self) -> list[str]:
        """Give the options that say the same."""
        return options.words(self)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The quarantined events that fit the filters, to be sent."""

    bucket: Bucket
    filters: Filters

    def read(self) -> Iterator[Item]:
        """Yield them."""
        return stored.read(self.bucket, map(event_key, self._names()))

    def count(self) -> int | None:
        """Count them where that takes no more than listing."""
        return None if self.filters.by_reason else sum(1 for _ in self._names())

    def left_out(self) -> Iterable[str]:
        """Name nothing: there is nothing else among them."""
        return ()

    def _names(self) -> Iterator[str]:
        if self.filters.by_reason:
            return (one.name for one in listed(self.bucket, self.filters))
        return (name for name, _ in _found(self.bucket, self.filters))


def listed(bucket: Bucket, filters: Filters) -> Iterator[Listed]:
    """Yield the quarantined events that fit, with their reasons, which are fetched side by side."""
    looked_at = ahead(aws.LANES, 2 * aws.LANES, lambda one: _seen(bucket, filters, one[0]), _found(bucket, filters))
    with closing(looked_at):
        for (name, days), reason in looked_at:
            if reason is not None and filters.fits(reason):
                yield Listed(name, days or tuple(bucket.days(name)), reason)


def _seen(bucket: Bucket, filters: Filters, name: str) -> dict[str, Any] | None:
    """Give an event's reason; None where a day's marker has outlasted the event."""
    if filters.by_day and not bucket.exists(event_key(name)):
        return None
    return _reason(bucket, name)


def _found(bucket: Bucket, filters: Filters) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names of what fits code and day, with the days where those were asked for."""
    if filters.by_day:
        yield from _by_day(bucket, filters)
        return
    for prefix in [f"{QUARANTINE}{code}/" for code in filters.codes] or [QUARANTINE]:
        yield from ((name, ()) for name in map(event_name, bucket.keys(prefix)) if name)


def _by_day(bucket: Bucket, filters: Filters) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find what came on the days; what came on several of them is one event."""
    days: dict[str, list[str]] = {}
    for key in _markers(bucket, filters):
        day, name = marker(key) or ("", "")
        if name and (not filters.codes or name.split("/")[0] in filters.codes):
            days.setdefault(name, []).append(day)
    yield from ((name, tuple(found)) for name, found in days.items())


def _markers(bucket: Bucket, filters: Filters) -> Iterator[str]:
    if filters.day:
        for prefix in [f"{code}/" for code in filters.codes] or [""]:
            yield from bucket.keys(f"{DAYS}{filters.day}/{prefix}")
    else:
        yield from bucket.keys(DAYS, f"{DAYS}{filters.since}")


def _reason(bucket: Bucket, name: str) -> dict[str, Any]:
    """Give why an event was refused; empty where that could not be written (yet)."""
    found = bucket.get(reason_key(name))
    try:
        reason = json.loads(found.body) if found else {}
    except ValueError:
        return {}
    return reason if isinstance(reason, dict) else {}


def _one(bucket: Bucket, which: str) -> str:
    """Give the name of the event that `which` means; raise BadParameter."""
    key = which.removeprefix(bucket.url(""))
    if name := event_name(key):
        if not bucket.exists(key):
            raise click.BadParameter(f"{bucket.url(key)}: nothing there; has it been replayed?")
        return name
    if not re.fullmatch(r"[0-9a-f]{1,64}", which):
        raise click.BadParameter("neither a key like quarantine/CODE/SHA256.event nor the beginning of a SHA-256.")
    folders = bucket.folders(QUARANTINE)
    names = [name for folder in folders for name in map(event_name, bucket.keys(f"{folder}{which}")) if name]
    if len(names) != 1:
        raise click.BadParameter(
            f"{len(names)} events begin so{': ' if names else ''}{', '.join(map(event_key, names[:10]))}"
        )
    return names[0]


def _write(bucket: Bucket, key: str, output: Path | None) -> None:
    event = bucket.get(key)
    if event is None:
        raise aws.AwsError(f"{bucket.url(key)}: gone; somebody has just replayed it")
    if output is None:
        sys.stdout.buffer.write(event.body)
        return
    try:
        output.write_bytes(event.body)
    except OSError as error:
        raise click.ClickException(f"{output}: {error.strerror}") from None


def _table(found: Iterable[Listed]) -> None:
    rows: list[tuple[str, ...]] = [_COLUMNS]
    codes: Counter[str] = Counter()
    for one in found:
        rows.append(one.columns())
        codes[one.code] += 1
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows if codes else ():
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    counts = ", ".join(f"{code} {count}" for code, count in codes.most_common())
    click.echo(f"{codes.total():,} in quarantine{': ' if counts else ''}{counts}")


def _span(days: tuple[str, ...]) -> str:
    return f"{days[0]}..{days[-1]}" if len(days) > 1 else days[0] if days else _UNKNOWN
