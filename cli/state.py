"""What a replay has finished, on disk, so that the same command goes on where it stopped.

A file of JSON lines: first the endpoint, then for each finished event the SHA-256 of its bytes and its verdict, each
line on the disk before the next event counts. Nothing of an event is in it but the path of its first error. A failed
event is not finished. Once there is nothing left to go on with, the file is removed.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from cli.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class StateError(click.ClickException):
    """The state file cannot be used; the message says why and what to do. The command ends with status 2."""

    exit_code = 2


class State:
    """The finished events of one replay to one endpoint. Only reads until `keep` or the end: a dry run leaves no trace.

    A context manager that closes the file. Not safe to share among threads, except `known`.
    """

    def __init__(self, path: Path, endpoint: str) -> None:
        """Load what `path` remembers, if it exists; raise StateError if it is something else or of another endpoint."""
        self.path = path
        self._header = json.dumps({"replay": endpoint}).encode() + b"\n"
        self._file: BinaryIO | None = None
        # A line cut off by a crash is no line; what it said is sent again, and the next one is written over it.
        self._size = 0
        self._known = self._load()

    def __len__(self) -> int:
        """Count the finished events of earlier runs."""
        return len(self._known)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close the file."""
        if self._file:
            self._file.close()

    def known(self, raw: bytes) -> Verdict | None:
        """Give the verdict that `raw` got in an earlier run."""
        return self._known.get(sha256(raw).digest()) if self._known else None

    def keep(self, raw: bytes, verdict: Verdict) -> None:
        """Remember a final verdict that is not known yet; it is on the disk on return. Raise StateError."""
        if not verdict.is_final or self.known(raw):
            return
        said = {"outcome": verdict.outcome, "status": verdict.status, "code": verdict.code, "path": verdict.path}
        try:
            self._append(json.dumps({"sha256": sha256(raw).hexdigest()} | said).encode() + b"\n")
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}; put the state elsewhere with --state FILE") from None

    def remove(self) -> None:
        """Forget everything: there is nothing left to go on with."""
        self.path.unlink(missing_ok=True)

    def _load(self) -> dict[bytes, Verdict]:
        try:
            with self.path.open("rb") as file:
                return dict(self._lines(file))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise StateError(f"{self.path}: not the state of a replay; name another with --state FILE") from None

    def _lines(self, file: BinaryIO) -> Iterator[tuple[bytes, Verdict]]:
        header = file.readline()
        if not header.endswith(b"\n") and self._header.startswith(header):
            return
        if (endpoint := json.loads(header)["replay"]) != json.loads(self._header)["replay"]:
            raise StateError(f"{self.path}: belongs to a replay to {endpoint}; name another with --state FILE")
        self._size = len(header)
        for line in file:
            if line.endswith(b"\n"):
                self._size += len(line)
                yield _remembered(json.loads(line))

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self._file = self._open()
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _open(self) -> BinaryIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
        file.truncate(self._size)
        if not self._size:
            file.write(self._header)
        return file


def _remembered(line: dict[str, Any]) -> tuple[bytes, Verdict]:
    verdict = Verdict(Outcome(line["outcome"]), line["status"], line["code"], line["path"])
    return bytes.fromhex(line["sha256"]), verdict
