"""Where events are read from: files, folders and standard input, one at a time and byte for byte.

    *.json, *.event     one event: the whole file, a newline at its end included
    *.ndjson, *.jsonl   one event a line: the line without its line end; blank lines are none
    any of them + .gz   the same, after gunzip
    -                   standard input, one event a line

A folder gives all such files below it, sorted by name, except what is no event there: hidden ones, `index.json`,
`*.reason.json` (why the event beside it was quarantined), links to folders and folders called `envelopes`. What is
named itself is read whatever it is called, as long as its ending says how.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cli.verdict import Verdict

STDIN = "-"
_WHOLE = (".json", ".event")
_LINES = (".ndjson", ".jsonl")


class SourceError(click.ClickException):
    """A path gives no events; the message says which and what to do. The command ends with status 2."""

    exit_code = 2


class Place(Protocol):
    """Where an event was read from, if it matters there what becomes of it."""

    def settle(self, verdict: Verdict) -> None:
        """Take note of the verdict on one event from here. Called from many threads; raises AwsError."""


@dataclass(frozen=True, slots=True)
class Item:
    """One event as it lies there. `name` is its file, with `:line` where a file holds many.

    `verdict` is there where nothing can be sent. `place` remembers by itself what is finished. `replays` is DataZone's
    own id of what it took once and could not process, `archived_as` that of an archived copy's delivery.
    """

    name: str
    raw: bytes
    place: Place | None = None
    verdict: Verdict | None = None
    replays: str | None = None
    archived_as: str | None = None


def is_read(path: Path) -> bool:
    """Whether a file of this name holds events."""
    return _ending(path) in _WHOLE + _LINES


def read(paths: Iterable[str]) -> Iterator[Item]:
    """Yield the events of `paths` in their order, never holding more than one; raise SourceError."""
    for path in paths:
        if path == STDIN:
            yield from _lines("stdin", sys.stdin.buffer)
        else:
            for file in _files(Path(path)):
                yield from _events(file)


def count(paths: Iterable[str]) -> int | None:
    """Count what `read` will yield, by reading it once: what cannot be read is found before anything is done.

    None for standard input, which can be read only once.
    """
    named = list(paths)
    events = sum(1 for _ in read(path for path in named if path != STDIN))
    return None if STDIN in named else events


def left_out(paths: Iterable[str]) -> Iterator[str]:
    """Yield the files and folders that `read` passes by although they could hold events."""
    for path in paths:
        if path != STDIN and Path(path).is_dir():
            yield from (str(found) for found, is_event in _walk(Path(path)) if not is_event)


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise SourceError(f"{path}: no such file or folder")
    if not path.is_dir():
        if not is_read(path):
            raise SourceError(
                f"{path}: its name has to end in .json (one event), .ndjson or .jsonl (one event a line), with or "
                "without .gz; lines of any other file can be piped in, with - for its path"
            )
        return [path]
    try:
        files = [found for found, is_event in _walk(path) if is_event]
    except OSError as error:
        raise SourceError(f"{error.filename}: {error.strerror}") from None
    if not files:
        raise SourceError(f"{path}: no .json, .ndjson or .jsonl file is in this folder")
    return files


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield what could hold events below `folder`, and whether it does."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".")
        if path.is_dir():
            # A link to a folder may lead back to where it lies.
            if hidden or path.name == "envelopes" or path.is_symlink():
                yield path, False
            else:
                yield from _walk(path)
        elif is_read(path):
            yield path, not (hidden or path.name == "index.json" or path.name.endswith(".reason.json"))


def _ending(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def _events(file: Path) -> Iterator[Item]:
    try:
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as stream:
            if _ending(file) in _LINES:
                yield from _lines(str(file), stream)
            else:
                yield Item(str(file), stream.read())
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SourceError(f"{file}: broken or cut off gzip data; make the file anew") from None
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}") from None


def _lines(name: str, stream: Iterable[bytes]) -> Iterator[Item]:
    for number, line in enumerate(stream, 1):
        raw = line.removesuffix(b"\n").removesuffix(b"\r")
        if raw.strip():
            yield Item(f"{name}:{number}", raw)
