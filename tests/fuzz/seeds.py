"""Where the fuzzer starts: the sample events, each in the clothes of the way in that is looked at."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from typing import TYPE_CHECKING

from adapter import backlog
from adapter.model import Received, Source
from local.kpl import aggregate
from tests.sample import EVENTS, index

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORDS = ("Infinity", "NaN", "1e999", "\\ud800", "\\u0000", "\\ufeff", "1f8b", "[[", "]]", "{{", "null", "true")


@cache
def seeds(target: str) -> list[bytes]:
    """Give the seed corpus of `target`."""
    events = [(EVENTS / name).read_bytes() for name in index()]
    match target:
        case "body":
            return [gzip.compress(event, mtime=0) for event in events] + [b"\n".join(events[:3])]
        case "kpl":
            return [aggregate([("run:retail/orders", event)]) for event in events] + list(_from_envelopes())
        case "batch":
            return [b"[" + event + b"]" for event in events] + [b" , ".join(events[:5]), b"\n[ ]", b'["\\"", {}]']
        case "backlog":
            messages = [backlog.message(Received(event, Source.HTTP, "spark", 0.0), None) for event in events]
            return [message.encode() for message in messages] + [b'{"received_at": 9e18, "source": "sqs"}']
        case _:
            return events


def _from_envelopes() -> Iterator[bytes]:
    for envelope in sorted((EVENTS / "envelopes").glob("kinesis*.json")):
        for record in json.loads(envelope.read_bytes())["Records"]:
            yield base64.b64decode(record["kinesis"]["data"])


def words(schema: object) -> set[str]:
    """Gather the keys and texts of a JSON document, for the fuzzer's dictionary."""
    if isinstance(schema, dict):
        return set(schema).union(*map(words, schema.values()))
    if isinstance(schema, list):
        return set().union(*map(words, schema))
    return {schema} if isinstance(schema, str) else set()


def dictionary() -> str:
    """Write libFuzzer's dictionary: the words of the schema and of JSON's darker corners."""
    schema = json.loads((EVENTS.parent / "schemas" / "openlineage-2-0-2.json").read_bytes())
    entries = sorted({*words(schema), *_WORDS, "received_at", "client_token", "source", "event", "refused"})
    return "".join(f'"{_escaped(word)}"\n' for word in entries)


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')
