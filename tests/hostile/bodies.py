"""Bodies that are small to send and dear to read, by what they are."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

from adapter.body import MAX_BODY_BYTES
from adapter.size import MAX_EVENT_BYTES
from local.kpl import aggregate
from tests.fakes import run_event

if TYPE_CHECKING:
    from collections.abc import Callable

# What API Gateway and Lambda let through: 6 MB, of which base64 leaves three quarters.
MAX_SENT = MAX_BODY_BYTES * 3 // 4 - 4096


def envelope(body: bytes, path: str = "/api/v1/lineage", **headers: str) -> dict[str, Any]:
    """Put `body` into API Gateway's payload format 1.0."""
    return {
        "version": "1.0",
        "httpMethod": "POST",
        "path": path,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }


def within(text: str, size: int = MAX_EVENT_BYTES) -> bytes:
    """Give a valid event whose one facet has `text` for a member, cut so that the event has at most `size` bytes."""
    facet = '{"_producer": "https://x.example/1", "_schemaURL": "https://x.example/1.json", "hostile": %s}'
    start, end = run_event().decode()[:-1] + ', "facets": {"hostile": ', "}}"
    return (start + facet % text + end).encode()[:size]


def _repeated(piece: bytes, size: int) -> bytes:
    """Make an object of about `size` bytes with an array of `piece` in it."""
    return b'{"run": [' + b",".join([piece] * ((size - 16) // (len(piece) + 1))) + b"]}"


def _keys(count: int) -> bytes:
    return run_event(flood={f"k{number}": 0 for number in range(count)})


def _same_length_keys(count: int) -> bytes:
    """Keys that a hash without a secret would put into one bucket: the same characters in another order."""
    return run_event(flood={f"{number:017b}": 0 for number in range(count)})


def _gzip_bomb() -> bytes:
    """128 MB of white space in half a megabyte."""
    return gzip.compress(b" " * (128 * 1024 * 1024), 1)


def _zip_of_zips() -> bytes:
    inner = b" " * (16 * 1024 * 1024)
    for _ in range(3):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(8):
                archive.writestr(f"{number}.zip", inner)
        inner = packed.getvalue()
    return inner


def _gzip_of_gzips() -> bytes:
    inner = _gzip_bomb()
    for _ in range(2):
        inner = gzip.compress(inner)
    return inner


def _many_members() -> bytes:
    return gzip.compress(b"") * (MAX_SENT // len(gzip.compress(b"")))


def _numbers(number: str) -> bytes:
    return within("[" + ",".join([number] * (250_000 // (len(number) + 1))) + "]")


def _all_wrong() -> bytes:
    """Every facet breaks a rule."""
    facets = {f"{number:05}": 0 for number in range(20_000)}
    return json.dumps(json.loads(run_event()) | {"run": {"runId": "x", "facets": facets}}).encode()


# What is sent, the status and the code it is to be answered with.
BODIES: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "gzip bomb": (_gzip_bomb, 413, "too_large"),
    "gzip of gzip of gzip": (_gzip_of_gzips, 400, "not_utf8"),
    "gzip of 200,000 members": (_many_members, 415, "unsupported_encoding"),
    "zip of zips": (_zip_of_zips, 400, "not_utf8"),
    "4.5 MB of one string": (lambda: b'{"a": "' + b"x" * (MAX_SENT - 9) + b'"}', 413, "too_large"),
    "6 MB of one string, gzipped": (
        lambda: gzip.compress(b'{"a": "' + b"x" * (MAX_BODY_BYTES - 9) + b'"}'),
        413,
        "too_large",
    ),
    "6 MB of empty arrays, gzipped": (lambda: gzip.compress(_repeated(b"[]", MAX_BODY_BYTES)), 413, "too_large"),
    "6 MB of empty objects, gzipped": (lambda: gzip.compress(_repeated(b"{}", MAX_BODY_BYTES)), 413, "too_large"),
    "6 MB of small objects, gzipped": (lambda: gzip.compress(_repeated(b'{"":0}', MAX_BODY_BYTES)), 413, "too_large"),
    "6 MB of short strings, gzipped": (lambda: gzip.compress(_repeated(b'"ab"', MAX_BODY_BYTES)), 413, "too_large"),
    "6 MB of opening brackets": (lambda: gzip.compress(b"[" * MAX_BODY_BYTES), 413, "too_large"),
    "300 KB of opening brackets": (lambda: b"[" * MAX_EVENT_BYTES, 400, "too_deep"),
    "nested 140,000 deep": (lambda: within("[" * 140_000 + "]" * 140_000), 400, "too_deep"),
    "300 KB of empty arrays": (lambda: _repeated(b"[]", MAX_EVENT_BYTES), 422, "schema_violation"),
    "an integer of 250,000 digits": (lambda: within("1" * 250_000), 400, "not_json"),
    "integers of 4,300 digits": (lambda: _numbers("9" * 4_300), 200, ""),
    "a fraction of 250,000 digits": (lambda: within("1." + "1" * 250_000), 200, ""),
    "exponents beyond a double": (lambda: _numbers("1e999999999"), 400, "not_json"),
    "exponents below a double": (lambda: _numbers("1e-999999999"), 200, ""),
    "100,000 keys": (lambda: _keys(100_000), 413, "too_large"),
    "20,000 keys": (lambda: _keys(20_000), 200, ""),
    "keys alike to a weak hash": (lambda: _same_length_keys(10_000), 200, ""),
    "20,000 broken facets": (_all_wrong, 422, "schema_violation"),
    "lone surrogates": (lambda: within('"' + "\\ud800" * 40_000 + '"'), 200, ""),
    "backslashes": (lambda: within('"' + "\\\\" * 140_000 + '"'), 200, ""),
}
BATCHES: dict[str, tuple[Callable[[], bytes], int, str]] = {
    "6 MB of one element": (lambda: gzip.compress(b"[" + b"[" * (MAX_BODY_BYTES - 1)), 400, "not_an_object"),
    "6 MB of commas": (lambda: gzip.compress(b"[" + b"," * (MAX_BODY_BYTES - 2) + b"]"), 413, "too_large"),
    "6 MB of an open string": (lambda: gzip.compress(b'["' + b"\\" * (MAX_BODY_BYTES - 2)), 400, "not_an_object"),
    "20 elements of 300 KB": (lambda: gzip.compress(b"[" + b",".join([_keys(22_000)] * 18) + b"]"), 200, ""),
    "1,000 elements that are none": (lambda: b"[" + b",".join([b"[]"] * 1_000) + b"]", 200, ""),
}


def records(*data: bytes) -> dict[str, Any]:
    """Put records into a batch as Lambda does; the first is number 0."""
    return {
        "Records": [
            {
                "kinesis": {
                    "sequenceNumber": str(number),
                    "partitionKey": "k",
                    "data": base64.b64encode(one).decode(),
                    "approximateArrivalTimestamp": 1.0,
                }
            }
            for number, one in enumerate(data)
        ]
    }


def _full() -> bytes:
    """Give what unpacks to the most that an event may."""
    return gzip.compress(b"[" * MAX_BODY_BYTES)


# Batches of the stream, and the record that is given again the next time, if any.
STREAM: dict[str, tuple[Callable[[], dict[str, Any]], str | None]] = {
    "gzip bombs in records": (lambda: records(*[_gzip_bomb()] * 8), None),
    "6 MB in each of 100 records": (lambda: records(*[_full()] * 100), "6"),
    "6 MB in each of 100 records of an aggregate": (lambda: records(aggregate([("k", _full())] * 100)), None),
    "100,000 records in an aggregate": (lambda: records(aggregate([("k", b"{}")] * 100_000)), None),
    "10,000 records in each of 20 aggregates": (lambda: records(*[aggregate([("k", b"{}")] * 10_000)] * 20), "1"),
}
