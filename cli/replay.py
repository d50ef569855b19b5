"""`lineage-adapter replay`: events from files to the adapter, in order, with an account of what became of each."""

from __future__ import annotations

import shlex
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import httpx

from cli import sources
from cli.address import api_key_option, url_option
from cli.report import Report, printable
from cli.sender import Sender, StopError
from cli.state import State, StateError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future

    from cli.sources import Item
    from cli.verdict import Verdict

TIMEOUT = 10.0
# One event may be beyond help; when as many in a row are taken by nobody, the adapter is.
FAILURES_IN_A_ROW = 5
INTERRUPTED = 130  # as a shell has it: 128 + SIGINT
_BY_HAND = "interrupted"


@dataclass(frozen=True, slots=True)
class Options:
    """What was typed. `url` is the endpoint in full."""

    paths: tuple[str, ...]
    url: str
    api_key: str | None = field(repr=False)
    compress: bool
    concurrency: int
    timeout: float
    state: Path | None
    dry_run: bool
    as_json: bool


def _state(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    if value and sources.is_read(value):
        # In a folder that is replayed it would be read while it grows, for ever.
        raise click.BadParameter("a file of that name is read as events; call it something like replay.state.")
    return value


@click.command(epilog="Exit status: 0 all delivered or deferred, 1 some not, 2 wrong usage, 130 interrupted.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@url_option
@api_key_option
@click.option("--gzip", "compress", is_flag=True, help="Compress what is sent.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Events under way at a time. With more than 1 they may arrive in another order than they were read in.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=TIMEOUT,
    show_default=True,
    help="Seconds to wait for a connection, and for an answer.",
)
@click.option(
    "--state",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_state,
    help="Where to remember what is finished; by default among the user's application data.",
)
@click.option("--dry-run", is_flag=True, help="List what would be sent, and send nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.pass_context
def replay(context: click.Context, /, **_: object) -> None:
    """Post the exact bytes of OpenLineage events to the adapter.

    PATH is a file (.json: one event; .ndjson, .jsonl: one a line; each also with .gz), a folder of such files, read in
    the order of their names (without index.json, *.reason.json, hidden ones and folders called envelopes), or - for
    standard input, one event a line.

    After an interruption or a failure the same command goes on where it stopped. To send an event twice is harmless:
    DataZone knows it by its token.
    """
    options = Options(**context.params)
    with State(options.state or _state_path(options), options.url) as state:
        context.exit(_listed(options, state) if options.dry_run else _replayed(options, state))


def _state_path(options: Options) -> Path:
    """Give each command its own file: the same paths to the same endpoint."""
    places = [path if path == sources.STDIN else str(Path(path).resolve()) for path in options.paths]
    key = sha256("\n".join([options.url, *places]).encode("utf-8", "surrogateescape")).hexdigest()
    return Path(click.get_app_dir("lineage-adapter")) / "replay" / f"{key[:16]}.state"


def _listed(options: Options, state: State) -> int:
    if options.as_json:
        raise click.UsageError("--dry-run has no summary; leave out --json")
    events = size = 0
    for item in sources.read(options.paths):
        if not state.known(item.raw):
            click.echo(f"{printable(item.name)}  {len(item.raw):,} bytes")
            events, size = events + 1, size + len(item.raw)
    click.echo(f"{events:,} events of {size:,} bytes would go to {options.url}")
    return 0


def _replayed(options: Options, state: State) -> int:
    """Send everything, print the summary, give the exit status."""
    report = Report(options.url, sources.count(options.paths))
    for path in sources.left_out(options.paths):
        report.note(f"{path}: not an event, left out")
    if len(state):
        report.note(f"going on after {len(state)} finished events; to start over, remove {state.path}")
    stopped = _sent(options, state, report)
    if stopped is None and not report.failed:
        state.remove()
        _print(options, report, None, None)
        return 0 if report.all_taken else 1
    _print(options, report, stopped, _again(options))
    return INTERRUPTED if stopped == _BY_HAND else 1


def _sent(options: Options, state: State, report: Report) -> str | None:
    """Send everything; give the reason why the replay stopped before its end, if it did."""
    halt = Event()
    try:
        with _client(options) as client, report:
            sender = Sender(client, options.url, report.note, halt.wait, compress=options.compress)
            _account(_verdicts(options, lambda item: state.known(item.raw) or sender.send(item), halt), state, report)
    except KeyboardInterrupt:
        return _BY_HAND
    except (StopError, sources.SourceError, StateError) as error:
        return str(error)
    return None


def _client(options: Options) -> httpx.Client:
    headers = {"User-Agent": "lineage-adapter"}
    if options.api_key:
        headers["Authorization"] = f"Bearer {options.api_key}"
    limits = httpx.Limits(max_connections=options.concurrency)
    try:
        return httpx.Client(headers=headers, timeout=options.timeout, limits=limits)
    except (OSError, ValueError, ImportError, httpx.InvalidURL):
        # httpx reads these variables, and its errors may hold a proxy's password.
        raise StopError("the environment's SSL_CERT_FILE, SSL_CERT_DIR or proxy settings cannot be used") from None


def _account(verdicts: Generator[tuple[Item, Verdict]], state: State, report: Report) -> None:
    in_a_row = 0
    with closing(verdicts):
        for item, verdict in verdicts:
            state.keep(item.raw, verdict)
            report.add(item, verdict)
            in_a_row = 0 if verdict.is_final else in_a_row + 1
            if in_a_row == FAILURES_IN_A_ROW:
                raise StopError(f"{in_a_row} events in a row were taken by nobody; see to the adapter first")


def _verdicts(options: Options, send: Callable[[Item], Verdict], halt: Event) -> Generator[tuple[Item, Verdict]]:
    """Send what is read, `concurrency` at a time; verdicts in the order of reading, whatever order they came in."""
    # With one thread nothing is started before the one before is done; with more, a slow event holds up few others.
    ahead = 2 * options.concurrency - 1
    under_way: deque[tuple[Item, Future[Verdict]]] = deque()
    with ThreadPoolExecutor(options.concurrency) as pool:
        try:
            for item in sources.read(options.paths):
                under_way.append((item, pool.submit(send, item)))
                if len(under_way) == ahead:
                    yield _first(under_way)
            while under_way:
                yield _first(under_way)
        finally:
            halt.set()
            pool.shutdown(cancel_futures=True)


def _first(under_way: deque[tuple[Item, Future[Verdict]]]) -> tuple[Item, Verdict]:
    item, verdict = under_way.popleft()
    return item, verdict.result()


def _print(options: Options, report: Report, stopped: str | None, again: str | None) -> None:
    click.echo(report.as_json(stopped, again) if options.as_json else report.summary())
    if stopped:
        report.note(f"Stopped: {stopped}")
    if again:
        report.note(f"To go on with what is left: {again}")


def _again(options: Options) -> str:
    """Give the command that goes on; the token is not part of it."""
    words = ["lineage-adapter", "replay", *options.paths, "--url", options.url]
    words += ["--gzip"] if options.compress else []
    words += ["--concurrency", str(options.concurrency)] if options.concurrency > 1 else []
    words += ["--timeout", f"{options.timeout:g}"] if options.timeout != TIMEOUT else []
    words += ["--state", str(options.state)] if options.state else []
    words += ["--json"] if options.as_json else []
    return shlex.join(words)
