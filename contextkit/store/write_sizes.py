"""What a write may take on the disk: in the engine's log and in its shard."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.records import Record
from contextkit.store.base import StoredBatch

__all__ = ["records_bytes", "vectors_bytes"]

_COPIES = 3
_BYTES_PER_POINT = 6144
_BYTES_PER_NUMBER = 4


def records_bytes(records: Sequence[Record]) -> int:
    """Bytes of the records without their dense vectors."""
    return sum(
        _BYTES_PER_POINT + _COPIES * (_bytes(record.searched_text) + _bytes(repr(record.fields)))
        for record in records
    )


def vectors_bytes(batch: StoredBatch) -> int:
    """Bytes of a batch's dense vectors."""
    return _COPIES * _BYTES_PER_NUMBER * (batch.dimensions or 0) * len(batch.points)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)
