"""Move and delete the records of whole projects."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Self

from attrs import evolve, frozen

from contextkit.errors import StoreError
from contextkit.models.record import Filters, Record
from contextkit.models.records import Checkout
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import RecordStore
from contextkit.store.ownership import Ownership, is_path
from contextkit.workspace.repository import as_text

_BATCH = 256


@frozen
class ProjectRecords:
    """The records of projects that people and agents wrote.

    Records that an index run made belong to a checkout, and are not moved. A project may be given
    as its identity names it: a path means this installation's.

    Attributes:
        store: the store.
        written: returns source -> which of its records people and agents wrote.
        ownership: which projects belong to one installation.
    """

    store: RecordStore
    written: Callable[[], Mapping[str, Filters]]
    ownership: Ownership

    @classmethod
    def of(cls, store: RecordStore, registry: SourceRegistry) -> Self:
        """Create them for a store and the installed sources."""
        return cls(store, partial(_by_hand, registry), Ownership.of(registry.config))

    @property
    def is_shared(self) -> bool:
        """Whether other users and machines may use the store."""
        return self.ownership.is_shared

    def has(self, project: str) -> bool:
        """Whether a project has such records."""
        key = self.ownership.project(project)
        return any(self.store.count(s, [key], f) for s, f in self._stored())

    def counts(self, project: str) -> dict[str, int]:
        """Source -> the number of a project's records, without sources that have none."""
        key = self.ownership.project(project)
        found = {s: self.store.count(s, [key], f) for s, f in self._stored()}
        return {source: count for source, count in found.items() if count}

    def move(self, old: str, new: str) -> int:
        """Move a project's records to another project; return their number.

        Each is written before the old one is deleted, so that a move that was interrupted can be
        repeated. Of a record that both projects have with different texts, both are kept: the
        moved one gets the first free id of `ID-2`, `ID-3` and so on.
        """
        moved = 0
        old, new = self.ownership.project(old), self.ownership.project(new)
        with self.store.hold():
            for source, filters in self._stored():
                found = list(self.store.scan(source, [old], filters))
                ids = {record.id for record in found}
                for batch in _batches(found):
                    self.store.put(self._in(new, batch, ids))
                    self.store.delete([record.point_id for record in batch])
                    moved += len(batch)
        return moved

    def _in(self, project: str, records: Sequence[Record], ids: Collection[str]) -> list[Record]:
        moved = [evolve(record, project=project) for record in records]
        there = {each.id: each for each in self.store.get([each.point_id for each in moved])}
        return [
            each if _is_equal(there.get(each.id, each), each) else self._renamed(each, ids)
            for each in moved
        ]

    def _renamed(self, record: Record, ids: Collection[str]) -> Record:
        """Return a record under an id that neither its new project nor `ids` have."""
        for number in count(2):
            renamed = evolve(record, id=f"{record.id}-{number}")
            if renamed.id in ids:
                continue
            there = self.store.get([renamed.point_id])
            # An equal one is there if a move was interrupted.
            if not there or _is_equal(there[0], renamed):
                break
        return renamed

    def delete(self, project: str) -> None:
        """Delete every record of a project, those of index runs too."""
        keys = {self.ownership.project(project)}
        if is_path(project):
            keys.add(self.ownership.checkout(project))
        with self.store.hold():
            for source in self.store.identity.sources:
                self.store.delete_where(source, sorted(keys), {})

    def _stored(self) -> Iterator[tuple[str, Filters]]:
        stored = self.store.identity.sources
        yield from ((s, f) for s, f in self.written().items() if s in stored)


def indexed_sources(registry: SourceRegistry) -> dict[str, Filters | None]:
    """Source with index runs -> which of its records people and agents wrote, or None."""
    names = [plugin.name for plugin in registry.plugins]
    return {
        name: registry.info(name).by_hand
        for name in names
        if registry.implements(name, "contextkit_index")
    }


def checkout_of(
    registry: SourceRegistry, ownership: Ownership, project: str, workspace: Path | None
) -> Checkout | None:
    """The checkout in a folder.

    Returns None without a folder, and for an installation that cannot keep an id: it has no
    index runs, either.
    """
    if workspace is None:
        return None
    folder = as_text(workspace)
    with contextlib.suppress(StoreError):
        return Checkout(
            folder, ownership.checkout(folder), project, list(indexed_sources(registry))
        )
    return None


def _by_hand(registry: SourceRegistry) -> dict[str, Filters]:
    indexed = indexed_sources(registry)
    found = {plugin.name: indexed.get(plugin.name, {}) for plugin in registry.plugins}
    return {name: filters for name, filters in found.items() if filters is not None}


def _is_equal(one: Record, other: Record) -> bool:
    return (one.text, one.fields) == (other.text, other.fields)


def _batches(records: list[Record]) -> Iterator[list[Record]]:
    rest = iter(records)
    while batch := list(islice(rest, _BATCH)):
        yield batch
