"""The aggregates that the local system and the samples are made of, held against those of another writer.

The hexadecimal ones were made by aws-kinesis-agg 1.2.3's RecordAggregator, on Google's protobuf.
"""

from __future__ import annotations

from adapter import kpl
from local.kpl import aggregate

_RUN = "run:retail.sales/daily-revenue"
_OTHER = "run:retail.dbt/orders"
_RECORDS = [(_RUN, b'{"n":1}'), (_RUN, b'{"n":2}'), (_OTHER, '{"n":"ü"}'.encode()), (_OTHER, b"x" * 130)]
_THEIRS = bytes.fromhex(
    "f3899ac2"
    "0a1e72756e3a72657461696c2e73616c65732f6461696c792d726576656e7565"
    "0a1572756e3a72657461696c2e6462742f6f7264657273"
    "1a0b08001a077b226e223a317d"
    "1a0b08001a077b226e223a327d"
    "1a0e08011a0a7b226e223a22c3bc227d"
    "1a870108011a8201" + "78" * 130 + "48b47cbdd0a29aee978587addc32a6b4"
)

# Two partition keys, the least and the greatest hash key, three records; the last one is empty and has no hash key.
_THEIRS_WITH_HASH_KEYS = bytes.fromhex(
    "f3899ac2"
    "0a0773746f72652f310a0773746f72652f32"
    "1201301227333430323832333636393230393338343633343633333734363037343331373638323131343535"
    "1a0d080010001a077b226e223a317d"
    "1a0d080110011a077b226e223a327d"
    "1a0408001a00"
    "530cadbc3c87af0749b39d5d2dc4f17d"
)


def test_the_writer_agrees_with_another_byte_for_byte() -> None:
    """Keys once and in order, numbers of more than seven bits, text as UTF-8, the checksum."""
    assert aggregate(_RECORDS) == _THEIRS


def test_the_adapter_reads_what_another_writer_wrote() -> None:
    assert kpl.records(_THEIRS) == [data for _, data in _RECORDS]
    assert kpl.records(_THEIRS_WITH_HASH_KEYS) == [b'{"n":1}', b'{"n":2}', b""]
