"""The records that were lately read from an open shard.

Consecutive questions about a project find many of the same records. Reading one from the engine
and checking it takes ten times as long as taking it from here.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern

from attrs import define, field

from contextkit.concurrency import ForkLock
from contextkit.models.copying import copied
from contextkit.models.record import Record
from contextkit.store.base import StoredPoint
from contextkit.store.field_values import FieldValues

_MOST_BYTES = 12 * 2**20
"""Room for five thousand records: a dozen different questions of all sources."""

_BYTES_BESIDE_TEXTS = 1_000
_BYTES_OF_AN_ENTRY = 100
"""Bytes of an entry of a nested list or mapping, as an estimate."""


@define(eq=False)
class RecordCache:
    """Sound records by point, the least recently used dropped first.

    The process that has a shard open is the only one that writes to it. Clear the cache when the
    shard opens, and drop written records before and after each write. Each prompt of an agent
    writes an event, so the rest must stay.

    Attributes:
        most_bytes: the approximate limit of its memory.
        values: the values of some of the records' fields.
    """

    most_bytes: int = _MOST_BYTES
    values: FieldValues = field(factory=FieldValues, init=False)
    _kept: OrderedDict[int, tuple[Record, int]] = field(factory=OrderedDict, init=False)
    _bytes: int = field(default=0, init=False)
    _clearings: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @property
    def state(self) -> int:
        """A number that changes with each clearing."""
        return self._clearings

    def clear(self) -> None:
        """Forget all records, and refuse those that are being read."""
        self._drop(None)
        self.values.clear()

    @contextlib.contextmanager
    def writing(
        self,
        source: str | None,
        points: Sequence[int] | None = None,
        stored: Sequence[StoredPoint] = (),
    ) -> Iterator[None]:
        """Forget what a write in this block changes.

        Args:
            source: the source of the records; None if it is not known.
            points: the records' points; None if they are not known.
            stored: the new records at these points; none if they are deleted.
        """
        self._drop(points)
        try:
            yield
        except BaseException:
            self.values.clear(source)
            raise
        else:
            if points is None:
                self.values.clear(source)
            else:
                self.values.changed(() if stored else points, stored)
        finally:
            self._drop(points)

    def _drop(self, points: Iterable[int] | None) -> None:
        with self._turn:
            self._clearings += 1
            if points is None:
                self._kept.clear()
                self._bytes = 0
            for point in points or ():
                self._bytes -= self._kept.pop(point, (None, 0))[1]

    def known(self, points: Iterable[int]) -> dict[int, Record]:
        """Return the kept records among these points.

        Each is a copy, so that a source may change its fields.
        """
        found = {}
        with self._turn:
            for point in points:
                kept = self._kept.get(point)
                if kept is not None:
                    self._kept.move_to_end(point)
                    found[point] = kept[0]
        return {point: _copied(record) for point, record in found.items()}

    def keep(self, records: Mapping[int, Record], state: int) -> None:
        """Keep records, unless the cache was cleared since they were read.

        Args:
            records: point -> its record.
            state: the cache's state before they were read.
        """
        sized = [(point, _shared(record), _size(record)) for point, record in records.items()]
        with self._turn:
            if state != self._clearings:
                return
            for point, record, size in sized:
                if size > self.most_bytes // 10 or point in self._kept:
                    continue
                self._kept[point] = record, size
                self._bytes += size
            while self._bytes > self.most_bytes:
                _, (_, size) = self._kept.popitem(last=False)
                self._bytes -= size


def _size(record: Record) -> int:
    beside = 0
    for value in record.fields.values():
        kind = type(value)
        if kind is str:
            beside += len(value)
        elif kind is list or kind is dict:
            beside += len(value) * _BYTES_OF_AN_ENTRY
    return _BYTES_BESIDE_TEXTS + len(record.text) + len(record.keywords) + beside


def _shared(record: Record) -> Record:
    """Copy a record, and share the names that many records have.

    The engine makes new strings for each record that it reads.
    """
    return copied(
        record,
        fields={intern(name): value for name, value in record.fields.items()},
        source=intern(record.source),
        project=intern(record.project),
    )


def _copied(record: Record) -> Record:
    """Copy a record part by part: a search copies a hundred."""
    copy: Record = object.__new__(Record)
    put = object.__setattr__
    put(copy, "id", record.id)
    put(copy, "text", record.text)
    put(copy, "fields", dict(record.fields))
    put(copy, "keywords", record.keywords)
    put(copy, "created_at", record.created_at)
    put(copy, "source", record.source)
    put(copy, "project", record.project)
    return copy
