"""User records packed the way the Kinesis Producer Library packs them.

Format (awslabs/amazon-kinesis-producer, aggregation-format.md): the magic F3 89 9A C2, a protobuf AggregatedRecord, the
MD5 of that protobuf. Shares nothing with adapter/kpl.py, which reads it: neither can hide the other's mistake.
"""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The library gives every aggregate this partition key: a hash key of its own sends it to its shard.
PARTITION_KEY = "a"

_MAGIC = b"\xf3\x89\x9a\xc2"

# AggregatedRecord { repeated string partition_key_table = 1; repeated Record records = 3; }
# Record { required uint64 partition_key_index = 1; required bytes data = 3; }
# What is optional (explicit hash keys, tags) the library writes only when asked to.
_PARTITION_KEY_TABLE = 1
_RECORDS = 3
_PARTITION_KEY_INDEX = 1
_DATA = 3

# Protobuf wire types: Protocol Buffers encoding, "Message structure".
_VARINT, _BYTES = 0, 2


def aggregate(records: Sequence[tuple[str, bytes]]) -> bytes:
    """Pack `records`, pairs of partition key and data, into the data of one Kinesis record, in their order."""
    indexes = {key: index for index, key in enumerate(dict.fromkeys(key for key, _ in records))}
    table = b"".join(_bytes(_PARTITION_KEY_TABLE, key.encode()) for key in indexes)
    body = table + b"".join(_bytes(_RECORDS, _record(indexes[key], data)) for key, data in records)
    return _MAGIC + body + md5(body, usedforsecurity=False).digest()


def _record(partition_key_index: int, data: bytes) -> bytes:
    return _tag(_PARTITION_KEY_INDEX, _VARINT) + _varint(partition_key_index) + _bytes(_DATA, data)


def _bytes(field: int, value: bytes) -> bytes:
    return _tag(field, _BYTES) + _varint(len(value)) + value


def _tag(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth says that more follow."""
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
