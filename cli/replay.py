"""`lineage-adapter replay`: events from files and from the quarantine bucket to the adapter, in order."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli import aws, options, sources, stored
from cli.address import url_option
from cli.bucket import Bucket
from cli.sending import EXIT_STATUS, SENDING_OPTIONS, Sending, send
from cli.state import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_s3 import S3Client

    from cli.sources import Item


def _state(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    if value and sources.is_read(value):
        # In a folder that is replayed it would be read while it grows, for ever.
        raise click.BadParameter("a file of that name is read as events; call it something like replay.state.")
    return value


@click.command(epilog=EXIT_STATUS)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@url_option
@click.option(
    "--state",
    "state_path",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_state,
    help="Where to remember what is finished; by default among the user's application data.",
)
@options.all_of(aws.endpoint_url_option, *SENDING_OPTIONS)
@click.pass_context
def replay(
    context: click.Context,
    /,
    paths: tuple[str, ...],
    state_path: Path | None,
    endpoint_url: str | None,
    **given: object,
) -> None:
    """Post the exact bytes of OpenLineage events to the adapter.

    PATH is a file (.json: one event; .ndjson, .jsonl: one a line; each also with .gz), a folder of such files, read in
    the order of their names (without index.json, *.reason.json, hidden ones and folders called envelopes), or - for
    standard input, one event a line.

    PATH is also s3://BUCKET/PREFIX, with what is in the adapter's bucket below it: events in quarantine/, and in
    aws/lambda/ the records of a stream that Lambda gave up on. What is taken there is moved to replayed/; what is
    refused again stays in quarantine/. In the archive's bucket it is archive/ or archive/day=2026-11-29/, of which
    nothing is moved.

    After an interruption or a failure the same command goes on where it stopped. To send an event twice is harmless:
    DataZone knows it by its token.
    """
    sending = options.pick(Sending, given)
    places = Places(paths, endpoint_url)
    with State(state_path or _state_path(sending.url, paths), sending.url) as state:
        context.exit(send(sending, places, _again(sending, places, state_path), state))


@dataclass(frozen=True, slots=True)
class Places:
    """Paths as they were typed, on disk and in S3."""

    paths: tuple[str, ...]
    endpoint_url: str | None
    _clients: list[S3Client] = field(default_factory=list)

    def read(self) -> Iterator[Item]:
        """Yield their events in their order; raise SourceError or AwsError."""
        for path in self.paths:
            if stored.is_stored(path):
                bucket, prefix = self._bucket(path)
                yield from stored.read(bucket, stored.keys(bucket, prefix))
            else:
                yield from sources.read([path])

    def count(self) -> int | None:
        """Count them as far as that can be done by reading or listing them once; raise SourceError or AwsError."""
        counts = [sources.count(path for path in self.paths if not stored.is_stored(path))]
        for path in filter(stored.is_stored, self.paths):
            bucket, prefix = self._bucket(path)
            counts.append(stored.count(stored.keys(bucket, prefix)))
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    def left_out(self) -> Iterator[str]:
        """Yield the files and folders that are passed by although they could hold events."""
        return sources.left_out(path for path in self.paths if not stored.is_stored(path))

    def _bucket(self, path: str) -> tuple[Bucket, str]:
        name, prefix = stored.split(path)
        if not self._clients:
            self._clients.append(aws.s3(self.endpoint_url))
        return Bucket(self._clients[0], name), prefix


def _state_path(url: str, paths: tuple[str, ...]) -> Path:
    """Give each command its own file: the same paths to the same endpoint."""
    by_themselves = (path == sources.STDIN or stored.is_stored(path) for path in paths)
    places = [path if itself else str(Path(path).resolve()) for path, itself in zip(paths, by_themselves, strict=True)]
    key = sha256("\n".join([url, *places]).encode("utf-8", "surrogateescape")).hexdigest()
    return Path(click.get_app_dir("lineage-adapter")) / "replay" / f"{key[:16]}.state"


def _again(sending: Sending, places: Places, state_path: Path | None) -> str:
    words = ["lineage-adapter", "replay", *places.paths, *sending.words()]
    words += ["--endpoint-url", places.endpoint_url] if places.endpoint_url else []
    words += ["--state", str(state_path)] if state_path else []
    return shlex.join(words)
