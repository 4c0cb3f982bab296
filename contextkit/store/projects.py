"""Move and delete the records of whole projects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from attrs import evolve, frozen

from contextkit.models.record import Filters, Record
from contextkit.store.base import RecordStore

_BATCH = 256


@frozen
class ProjectRecords:
    """The records of projects that people and agents wrote.

    Records that an index run made belong to a checkout, and are not moved.

    Attributes:
        store: the store.
        written: returns source -> which of its records people and agents wrote.
        is_shared: whether other users and machines may use the store.
    """

    store: RecordStore
    written: Callable[[], Mapping[str, Filters]]
    is_shared: bool

    def has(self, project: str) -> bool:
        """Whether a project has such records."""
        return any(self.store.count(s, [project], f) for s, f in self._stored())

    def counts(self, project: str) -> dict[str, int]:
        """Source -> the number of a project's records, without sources that have none."""
        found = {s: self.store.count(s, [project], f) for s, f in self._stored()}
        return {source: count for source, count in found.items() if count}

    def move(self, old: str, new: str) -> int:
        """Move a project's records to another project; return their number.

        Each is written before the old one is deleted, so that a move that was interrupted can be
        repeated. Of a record that both projects have with different texts, both are kept.
        """
        moved = 0
        with self.store.hold():
            for source, filters in self._stored():
                found = self.store.scan(source, [old], filters)
                for batch in _batches(list(found)):
                    self.store.put([self._in(new, record) for record in batch])
                    self.store.delete([record.point_id for record in batch])
                    moved += len(batch)
        return moved

    def _in(self, project: str, record: Record) -> Record:
        moved = evolve(record, project=project)
        there = self.store.get([moved.point_id])
        if there and (there[0].text, there[0].fields) != (record.text, record.fields):
            return evolve(moved, id=f"{record.id}-2")
        return moved

    def delete(self, project: str) -> None:
        """Delete every record of a project, those of index runs too."""
        with self.store.hold():
            for source in self.store.identity.sources:
                self.store.delete_where(source, [project], {})

    def _stored(self) -> Iterator[tuple[str, Filters]]:
        stored = self.store.identity.sources
        yield from ((s, f) for s, f in self.written().items() if s in stored)


def _batches(records: list[Record]) -> Iterator[list[Record]]:
    rest = iter(records)
    while batch := list(islice(rest, _BATCH)):
        yield batch
