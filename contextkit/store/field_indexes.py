"""Which record fields an embedded store indexes: those of sources with many records.

An index makes a filter quick and every opening slow: each takes some five milliseconds to open
and close, with records or without, while looking at the records themselves takes five
microseconds for each of its source's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import define, field

from contextkit.store.base import StoredBatch
from contextkit.store.edge_queries import field_key

__all__ = ["WORTH_AN_INDEX", "FieldIndexes"]

WORTH_AN_INDEX = 1_000
"""A source with fewer records is filtered without an index of its own."""


@define(eq=False)
class FieldIndexes:
    """What is known of an open shard's indexes of record fields.

    Attributes:
        declared: source -> the fields that its filters use.
    """

    declared: Mapping[str, Sequence[str]]
    _made: set[str] = field(factory=set, init=False)
    _records: Counter[str] = field(factory=Counter, init=False)

    def begin(self, made: Iterable[str], scopes: Mapping[str, int]) -> None:
        """Start anew with a shard that was opened.

        Args:
            made: the payload keys that it has an index of.
            scopes: scope -> records in it.
        """
        self._made = set(made)
        self._records = _by_source(scopes)

    def missing(self, batch: StoredBatch, scopes: Callable[[], Mapping[str, int]]) -> set[str]:
        """The payload keys to index before a batch is stored.

        Only fields that the batch has are: an index of nothing takes as long to open.

        Args:
            batch: records of one source.
            scopes: counts the records of each scope.
        """
        self._records[batch.source] += len(batch.points)
        if self._records[batch.source] < WORTH_AN_INDEX:
            return set()
        wanted = self._wanted(batch)
        if not wanted:
            return wanted
        # What was written over was counted twice.
        self._records = _by_source(scopes())
        self._records[batch.source] += len(batch.points)
        return wanted if self._records[batch.source] >= WORTH_AN_INDEX else set()

    def made(self, keys: Iterable[str]) -> None:
        """Take note of indexes that were made."""
        self._made.update(keys)

    def _wanted(self, batch: StoredBatch) -> set[str]:
        keys = set(map(field_key, self.declared.get(batch.source, ()))) - self._made
        if not keys:
            return keys
        present = {field_key(name) for point in batch.points for name in point.payload["fields"]}
        return {key for key in keys if key in present or _parent(key) in present}


def _by_source(scopes: Mapping[str, int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for scope, records in scopes.items():
        counted[scope.partition("/")[0]] += records
    return counted


def _parent(key: str) -> str:
    """The outermost field that a nested one is in."""
    return ".".join(key.split(".")[:2])
