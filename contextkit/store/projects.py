"""Move and delete the records of whole projects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Self

from attrs import evolve, frozen

from contextkit.models.record import Filters, Record
from contextkit.plugin.manager import SourceRegistry
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

    @classmethod
    def of(cls, store: RecordStore, registry: SourceRegistry) -> Self:
        """Create them for a store and the installed sources."""
        return cls(store, partial(_by_hand, registry), registry.config.store.url is not None)

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
                    self.store.put(self._in(new, batch))
                    self.store.delete([record.point_id for record in batch])
                    moved += len(batch)
        return moved

    def _in(self, project: str, records: Sequence[Record]) -> list[Record]:
        moved = [evolve(record, project=project) for record in records]
        there = {each.id: each for each in self.store.get([each.point_id for each in moved])}
        return [
            each if _is_equal(there.get(each.id, each), each) else evolve(each, id=f"{each.id}-2")
            for each in moved
        ]

    def delete(self, project: str) -> None:
        """Delete every record of a project, those of index runs too."""
        with self.store.hold():
            for source in self.store.identity.sources:
                self.store.delete_where(source, [project], {})

    def _stored(self) -> Iterator[tuple[str, Filters]]:
        stored = self.store.identity.sources
        yield from ((s, f) for s, f in self.written().items() if s in stored)


def _by_hand(registry: SourceRegistry) -> dict[str, Filters]:
    found: dict[str, Filters] = {}
    for name in (plugin.name for plugin in registry.plugins):
        is_indexed = registry.implements(name, "contextkit_index")
        filters = registry.info(name).by_hand if is_indexed else {}
        if filters is not None:
            found[name] = filters
    return found


def _is_equal(one: Record, other: Record) -> bool:
    return (one.text, one.fields) == (other.text, other.fields)


def _batches(records: list[Record]) -> Iterator[list[Record]]:
    rest = iter(records)
    while batch := list(islice(rest, _BATCH)):
        yield batch
