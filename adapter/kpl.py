"""Records aggregated by the Kinesis Producer Library, taken apart.

Format (awslabs/amazon-kinesis-producer, aggregation-format.md): the magic F3 89 9A C2, a protobuf AggregatedRecord, the
MD5 of that protobuf. The only published reader is unmaintained, does not declare what it imports and is slower.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"\xf3\x89\x9a\xc2"
_MD5_BYTES = 16

# AggregatedRecord { repeated string partition_key_table = 1; repeated string explicit_hash_key_table = 2;
#                    repeated Record records = 3; }
# Record { required uint64 partition_key_index = 1; optional uint64 explicit_hash_key_index = 2;
#          required bytes data = 3; repeated Tag tags = 4; }
_RECORDS = 3
_DATA = 3

# Protobuf wire types: Protocol Buffers encoding, "Message structure".
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BITS = 64


class BrokenAggregateError(Exception):
    """It has an aggregate's magic and is none: torn, or damaged on its way."""


def is_aggregate(data: bytes) -> bool:
    """Say whether `data` starts as an aggregate does. No JSON and no gzip starts so."""
    return data.startswith(MAGIC)


def records(data: bytes) -> list[bytes]:
    """Give the user records inside the aggregate `data`, in their order.

    Raises BrokenAggregateError where the checksum or the protobuf is wrong, or a record has no data.
    """
    body, checksum = data[len(MAGIC) : -_MD5_BYTES], data[-_MD5_BYTES:]
    if len(data) < len(MAGIC) + _MD5_BYTES or md5(body, usedforsecurity=False).digest() != checksum:
        raise BrokenAggregateError("its checksum does not match")
    return [_data(record) for field, record in _fields(body) if field == _RECORDS]


def _data(record: bytes) -> bytes:
    found = None
    for field, value in _fields(record):
        if field == _DATA:
            found = value  # the last one counts: Protocol Buffers encoding, "Last One Wins"
    if found is None:
        raise BrokenAggregateError("a record in it has no data")
    return found


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and value of each length-delimited field; step over the others."""
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        wire_type = key & 7
        if wire_type == _VARINT:
            _, at = _varint(message, at)
            continue
        if wire_type == _BYTES:
            size, at = _varint(message, at)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise BrokenAggregateError("a field in it has an unknown type")
        if at + size > end:
            raise BrokenAggregateError("a field in it ends too late")
        if wire_type == _BYTES:
            yield key >> 3, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < _VARINT_BITS:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 - the continuation bit
            return value, at
        shift += 7
    raise BrokenAggregateError("a number in it has no end")
