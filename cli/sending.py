"""How every replay sends its events, with a progress bar and an account of what became of each."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Protocol

import click
import httpx

from cli.address import api_key_option
from cli.ahead import ahead
from cli.aws import AwsError
from cli.report import Report, printable
from cli.sender import Sender, StopError
from cli.sources import SourceError
from cli.state import State, StateError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from cli.sources import Item
    from cli.verdict import Verdict

TIMEOUT = 10.0
# One event may be beyond help; when as many in a row are taken by nobody, the adapter is.
FAILURES_IN_A_ROW = 5
INTERRUPTED = 130  # as a shell has it: 128 + SIGINT
EXIT_STATUS = "Exit status: 0 all delivered or deferred, 1 some not, 2 wrong usage, 130 interrupted."
_BY_HAND = "interrupted"


@dataclass(frozen=True, slots=True)
class Sending:
    """How events are sent, as typed. `url` is the endpoint in full."""

    url: str
    api_key: str | None = field(repr=False)
    compress: bool
    concurrency: int
    timeout: float
    dry_run: bool
    as_json: bool

    def words(self) -> list[str]:
        """Give the options that say the same; the token is not among them."""
        words = ["--url", self.url]
        words += ["--gzip"] if self.compress else []
        words += ["--concurrency", str(self.concurrency)] if self.concurrency > 1 else []
        words += ["--timeout", f"{self.timeout:g}"] if self.timeout != TIMEOUT else []
        return words + (["--json"] if self.as_json else [])


class Events(Protocol):
    """What is to be sent."""

    def read(self) -> Iterator[Item]:
        """Yield the events; raise SourceError or AwsError."""

    def count(self) -> int | None:
        """Count them, if that can be done; raise SourceError or AwsError for what cannot be read."""

    def left_out(self) -> Iterable[str]:
        """Name what lies among them and is no event."""


# The fields of Sending, except the URL.
SENDING_OPTIONS = (
    api_key_option,
    click.option("--gzip", "compress", is_flag=True, help="Compress what is sent."),
    click.option(
        "--concurrency",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        help="Events under way at a time. With more than 1 they may arrive in another order than they were read in.",
    ),
    click.option(
        "--timeout",
        type=click.FloatRange(0, min_open=True),
        default=TIMEOUT,
        show_default=True,
        help="Seconds to wait for a connection, and for an answer.",
    ),
    click.option("--dry-run", is_flag=True, help="List what would be sent, and send nothing."),
    click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON."),
)


def send(sending: Sending, events: Events, again: str, state: State | None = None) -> int:
    """Send everything, or list it; print the summary and give the exit status.

    `again` is the command that goes on with what is left. `state` remembers what is finished of the events whose place
    does not. Raises SourceError and AwsError as long as nothing is sent.
    """
    return _listed(sending, events, state) if sending.dry_run else _replayed(sending, events, again, state)


def _listed(sending: Sending, events: Events, state: State | None) -> int:
    if sending.as_json:
        raise click.UsageError("--dry-run has no summary; leave out --json")
    count = size = 0
    for item in events.read():
        if not (item.verdict or _known(item, state)):
            click.echo(f"{printable(item.name)}  {len(item.raw):,} bytes")
            count, size = count + 1, size + len(item.raw)
    click.echo(f"{count:,} events of {size:,} bytes would go to {sending.url}")
    return 0


def _replayed(sending: Sending, events: Events, again: str, state: State | None) -> int:
    report = Report(sending.url, events.count())
    for path in events.left_out():
        report.note(f"{path}: not an event, left out")
    if state:
        report.note(f"going on after {len(state)} finished events; to start over, remove {state.path}")
    stopped = _sent(sending, events, state, report)
    if stopped is None and not report.failed:
        if state is not None:
            state.remove()
        _print(sending, report, None, None)
        return 0 if report.all_taken else 1
    _print(sending, report, stopped, again)
    return INTERRUPTED if stopped == _BY_HAND else 1


def _sent(sending: Sending, events: Events, state: State | None, report: Report) -> str | None:
    """Send everything; give the reason why it stopped before its end, if it did."""
    halt = Event()
    try:
        with _client(sending) as client, report:
            sender = Sender(client, sending.url, report.note, halt.wait, compress=sending.compress)
            # With one lane nothing is begun before the one before is done; with more, a slow event holds up few others.
            lanes, window = sending.concurrency, 2 * sending.concurrency - 1
            _account(
                ahead(lanes, window, lambda item: _settled(item, sender, state), events.read(), halt.set), state, report
            )
    except KeyboardInterrupt:
        return _BY_HAND
    except (StopError, SourceError, StateError, AwsError) as error:
        return str(error)
    return None


def _settled(item: Item, sender: Sender, state: State | None) -> Verdict:
    verdict = item.verdict or _known(item, state) or sender.send(item)
    if item.place:
        item.place.settle(verdict)
    return verdict


def _known(item: Item, state: State | None) -> Verdict | None:
    return state.known(item.raw) if state is not None and item.place is None else None


def _client(sending: Sending) -> httpx.Client:
    headers = {"User-Agent": "lineage-adapter"}
    if sending.api_key:
        headers["Authorization"] = f"Bearer {sending.api_key}"
    limits = httpx.Limits(max_connections=sending.concurrency)
    try:
        return httpx.Client(headers=headers, timeout=sending.timeout, limits=limits)
    except (OSError, ValueError, ImportError, httpx.InvalidURL):
        # httpx reads these variables, and its errors may hold a proxy's password.
        raise StopError("the environment's SSL_CERT_FILE, SSL_CERT_DIR or proxy settings cannot be used") from None


def _account(verdicts: Generator[tuple[Item, Verdict]], state: State | None, report: Report) -> None:
    in_a_row = 0
    with closing(verdicts):
        for item, verdict in verdicts:
            if state is not None and item.place is None:
                state.keep(item.raw, verdict)
            report.add(item, verdict)
            in_a_row = 0 if verdict.is_final else in_a_row + 1
            if in_a_row == FAILURES_IN_A_ROW:
                raise StopError(f"{in_a_row} events in a row were taken by nobody; see to the adapter first")


def _print(sending: Sending, report: Report, stopped: str | None, again: str | None) -> None:
    click.echo(report.as_json(stopped, again) if sending.as_json else report.summary())
    if stopped:
        report.note(f"Stopped: {stopped}")
    if again:
        report.note(f"To go on with what is left: {again}")
