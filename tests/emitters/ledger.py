"""The account of a run: what an emitter emitted, by its own count, against what DataZone and the quarantine hold."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from tests.integration.running import Running

SETTLE_SECONDS = 30.0


class Ledger:
    """What arrives in a running system from now on."""

    def __init__(self, system: Running) -> None:
        """Begin with what is there already."""
        self._system = system
        self._before = set(system.delivered())
        self._refused_before = set(self._reasons())

    def delivered(self) -> list[bytes]:
        """Give the bytes of each event in DataZone that was not there before."""
        return [raw for key, raw in self._system.delivered().items() if key not in self._before]

    def reasons(self) -> dict[bytes, dict[str, Any]]:
        """Give the bytes of each event in the quarantine that was not there before, and why it is there."""
        new = [key for key in self._reasons() if key not in self._refused_before]
        return {self._object(key.replace(".reason.json", ".event")): json.loads(self._object(key)) for key in new}

    def closes(self, emitted: Collection[bytes], findings: Mapping[bytes, str] | None = None) -> None:
        """Assert that of `emitted` each event is in DataZone once, byte for byte, and nothing else is.

        `findings` are the events that are in quarantine instead, by code. An event emitted twice is one event: its
        bytes, and so its token, are the same.
        """
        findings = findings or {}
        expected = Counter(set(emitted) - set(findings))
        deadline = time.monotonic() + SETTLE_SECONDS
        while Counter(self.delivered()) != expected and time.monotonic() < deadline:
            time.sleep(0.2)
        delivered = Counter(self.delivered())
        lost, strange = expected - delivered, delivered - expected
        assert (len(lost), len(strange)) == (0, 0), f"lost: {list(lost)}; not emitted: {list(strange)}"
        assert {raw: reason["code"] for raw, reason in self.reasons().items()} == findings

    def _reasons(self) -> list[str]:
        pages = self._system.s3.get_paginator("list_objects_v2").paginate(
            Bucket=self._system.bucket, Prefix="quarantine/"
        )
        keys = [item["Key"] for page in pages for item in page.get("Contents", [])]
        return [key for key in keys if key.endswith(".reason.json")]

    def _object(self, key: str) -> bytes:
        return self._system.s3.get_object(Bucket=self._system.bucket, Key=key)["Body"].read()


def lines(file: Path) -> list[bytes]:
    """Give what a client's own file transport wrote: an event a line, serialised as its HTTP transport does."""
    return file.read_bytes().splitlines()
