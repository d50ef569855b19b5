"""Events that are all different: good ones in every handwriting, and poison of every kind."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_STATES = ("START", "RUNNING", "COMPLETE")
# What trips a reader that cuts or re-serialises: marks inside strings, escapes, numbers that lose their spelling.
_AWKWARD = ['"]}{[,', "\\", "\u00e4\u2028\N{GRINNING FACE}", "\x00\x1f", "</script>"]
_NUMBERS = b'[1.0, 1E+2, 0.10, -0, 123456789012345678901234567890, "\\ud83d\\ude00\\/"]'


class Fits(Enum):
    """Where poison can be put and still be the poison it is."""

    ANYWHERE = auto()
    # Not into a JSON array: it would break the brackets of the others.
    NOT_IN_AN_ARRAY = auto()
    # Nor into gzip: it looks like gzip itself.
    ONLY_PLAIN = auto()
    # A record of a stream, and nothing else.
    ONLY_RECORD = auto()


@dataclass(frozen=True, slots=True)
class Event:
    """What is sent. `index` is its name in every report; `code` is what it must be refused for, None if it is good."""

    index: int
    raw: bytes
    code: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes, in hexadecimal digits."""
        return sha256(self.raw).hexdigest()


def token(raw: bytes) -> str:
    """Give an event's client token as the contract has it, with nothing of the adapter's own."""
    return sha256(json.dumps(json.loads(raw), sort_keys=True).encode()).hexdigest()


def good(index: int, rng: Random) -> Event:
    """Make a valid run event; three in a row are of one run."""
    return Event(index, _written(_run_event(index, rng), rng))


def poison(index: int, rng: Random, room: Fits) -> Event:
    """Make an event that must be refused, of a kind that fits into `room`."""
    kinds = [kind for kind in _KINDS if _fits(kind[0], room)]
    _, code, make = rng.choices(kinds, [1 if code == "too_large" else 20 for _, code, _ in kinds])[0]
    return Event(index, make(index, rng), code)


def _fits(kind: Fits, room: Fits) -> bool:
    return kind.value <= room.value


def _run_event(index: int, rng: Random) -> dict[str, Any]:
    text = "x" * rng.choice([10, 200, 200, 1_000, 1_000, 15_000])
    facet = {"_producer": "https://chaos.example/1", "_schemaURL": "https://chaos.example/facet.json"}
    return {
        "eventType": _STATES[index % 3],
        "eventTime": f"2026-11-29T{index // 3600 % 24:02}:{index // 60 % 60:02}:{index % 60:02}.{index % 1000:03}Z",
        "producer": "https://chaos.example/1",
        "schemaURL": _SCHEMA_URL,
        "run": {"runId": str(UUID(int=index // 3 + (4 << 76) + (8 << 60))), "facets": {"note": facet | {"text": text}}},
        "job": {"namespace": "chaos", "name": f"job-{index}", "facets": {}},
        "inputs": [{"namespace": "warehouse", "name": one} for one in rng.sample(_AWKWARD, 2)],
        "outputs": [],
        "numbers": None,
    }


def _written(event: dict[str, Any], rng: Random) -> bytes:
    items = list(event.items())
    rng.shuffle(items)
    styles: list[dict[str, Any]] = [{}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}]
    text = json.dumps(dict(items), **rng.choice(styles))
    return text.encode().replace(b"null", _NUMBERS)


def _without_job(index: int, rng: Random) -> bytes:
    event = _run_event(index, rng)
    del event["job"]
    return _written(event | {"n": index}, rng)


def _not_a_number(index: int, rng: Random) -> bytes:
    return good(index, rng).raw.replace(_NUMBERS, b"NaN")


def _torn(index: int, rng: Random) -> bytes:
    raw = good(index, rng).raw
    return f"/{index}/".encode() + raw[: rng.randrange(len(raw))]


def _numbered(template: bytes) -> Callable[[int, Random], bytes]:
    return lambda index, _: template.replace(b"%", str(index).encode())


_KINDS: tuple[tuple[Fits, str, Callable[[int, Random], bytes]], ...] = (
    (Fits.ANYWHERE, "not_json", _numbered(b'{"n": %, }')),
    (Fits.ANYWHERE, "not_json", _not_a_number),
    (Fits.ANYWHERE, "not_utf8", _numbered(b'{"n": %, "name": "\xff\xfe"}')),
    (Fits.ANYWHERE, "duplicate_key", _numbered(b'{"n": %, "n": %}')),
    (Fits.ANYWHERE, "not_an_object", _numbered(b'["%", "]"]')),
    (Fits.ANYWHERE, "schema_violation", _without_job),
    (Fits.ANYWHERE, "unsupported_kind", _numbered(b'{"dataset": {"namespace": "chaos", "name": "%"}}')),
    (Fits.ANYWHERE, "too_large", _numbered(b'{"n": %, "text": "' + b"x" * 300_000 + b'"}')),
    (Fits.NOT_IN_AN_ARRAY, "not_json", _torn),
    (Fits.NOT_IN_AN_ARRAY, "too_deep", _numbered(b"[" * 100_000 + b"%")),
    (Fits.ONLY_PLAIN, "unsupported_encoding", _numbered(b"\x1f\x8b\x08%")),
    (Fits.ONLY_RECORD, "unsupported_encoding", _numbered(b"\xf3\x89\x9a\xc2%")),
)
