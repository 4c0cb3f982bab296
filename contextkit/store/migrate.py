"""Copy all records of a store to another store and verify the copy.

A pass reads every record of the old store, compares it with the new store's by checksum, and
writes what is missing or older. Passes are repeated until one finds nothing to write. So a move
that was killed goes on where it stopped, and what other processes store meanwhile is copied too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import define, field, frozen

from contextkit.config.load import data_folder
from contextkit.errors import RecordDamagedError, StoreError
from contextkit.files import make_private_folder, write_atomically
from contextkit.models.record import CHECKOUTS, Record
from contextkit.store.base import PointStore, RecordStore, StoredBatch, by_source, in_batches
from contextkit.store.payloads import read_payload, record_checksum
from contextkit.store.reused_vectors import KEYWORDS_ONLY, ReusingEmbedders

_BATCH = 256
_MOST_PASSES = 10

Moving = Callable[[str, int, int], None]
"""Called with `copy` or `verify`, the records done in this pass, and the total."""


@define
class MovedScope:
    """The records of one source and project.

    Attributes:
        source: the source.
        project: the project in the old store.
        target: the project in the new store.
        records: how many the old store has.
        checksum: the sum of the records' checksums as the new store has them, modulo 2^32.
        copied: how many were written.
        other: how many the new store has in a version that was kept, or does not have any more
            because they were deleted there after an earlier move.
        stored: how many the new store has, those of others included.
    """

    source: str
    project: str
    target: str
    records: int = 0
    checksum: int = 0
    copied: int = 0
    other: int = 0
    stored: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """Source, old and new project."""
        return self.source, self.project, self.target

    @property
    def is_same(self) -> bool:
        """Whether both stores have the same records here."""
        return self.records == self.stored and not self.other


@define
class Migrated:
    """The result of a move.

    Attributes:
        scopes: what was found for each source and project.
        damaged: the names of the old store's damaged records, which were not copied.
        removed: records that were copied, and deleted in the old store during the move.
        settled: whether the last pass found nothing to write.
    """

    scopes: Sequence[MovedScope] = ()
    damaged: Sequence[str] = ()
    removed: int = 0
    settled: bool = True

    @property
    def incomplete(self) -> list[MovedScope]:
        """The scopes of which the new store counts fewer records than it should."""
        return [each for each in self.scopes if each.stored < each.records - each.other]


@define(eq=False)
class Migration:
    """The move of all records of a store to another.

    Attributes:
        old: the store to read; it is never changed.
        new: the store to write; its embedders are `embedders`.
        embedders: reuse the old store's vectors.
        moves: whether the records of a project are moved.
        renamed: gives records the projects that they have in the new store.
        redact: replaces secrets in the records.
        progress: called after each batch.
        carry: called with what a pass found to be in the new store, after the last pass and
            perhaps before; carries over what depends on both stores' records.
        writes: whether records are written; else the move is only tried.
        again: whether to refuse the move unless it has finished before.
    """

    old: PointStore
    new: RecordStore | None
    embedders: ReusingEmbedders
    moves: Callable[[str], bool]
    renamed: Callable[[Sequence[Record]], Sequence[Record]]
    redact: Callable[[Sequence[Record]], Sequence[Record]]
    progress: Moving
    carry: Callable[[Sequence[MovedScope]], None]
    writes: bool = True
    again: bool = False
    _scopes: dict[tuple[str, str, str], MovedScope] = field(factory=dict, init=False)
    _copied: Counter[tuple[str, str, str]] = field(factory=Counter, init=False)
    _written: set[str] = field(factory=set, init=False)
    _damaged: list[str] = field(factory=list, init=False)
    _finished_at: datetime | None = field(default=None, init=False)

    def run(self) -> Migrated:
        """Copy and verify.

        Raises:
            StoreError: both stores are the same, or a model cannot make vectors.
        """
        self.embedders.before = self.old.identity
        marker = None
        if self.new is not None:
            marker = _Marker.of(self.old, self.new)
            self._finished_at = marker.read()
            is_same = self.old.identity.id == self.new.identity.id
            if is_same or (self.again and self._finished_at is None):
                raise StoreError("the records are in that store already: give another one to --to")
        removed, settled = 0, False
        for number in range(_MOST_PASSES if self.writes else 1):
            before = self._revisions()
            changed, gone = self._pass("verify" if number else "copy")
            removed += gone
            if self.writes and not changed:
                self.carry(self._counted())
                # What other processes stored meanwhile is copied by another pass.
                settled = self._revisions() == before
            if settled:
                break
        result = Migrated(self._counted(), self._damaged, removed, settled)
        if marker is not None and settled and not result.incomplete:
            marker.write()
        return result

    def _revisions(self) -> Mapping[str, str | None]:
        return {source: self.old.revision(source) for source in self.old.identity.sources}

    def _pass(self, what: str) -> tuple[int, int]:
        """Write what the new store lacks; return the records written and removed."""
        total, done, changed = self.old.count(None, None, {}), 0, 0
        unseen = set(self._written)
        self._scopes = {}
        for batch, vectors in self._batches(with_vectors=what == "copy"):
            changed += self._copy(batch, vectors, unseen)
            done += len(batch)
            self.progress(what, done, max(done, total))
        if unseen and self.new is not None:
            self.new.delete(sorted(unseen))
            self._written -= unseen
        return changed, len(unseen)

    def _batches(
        self, *, with_vectors: bool
    ) -> Iterator[tuple[list[Record], Mapping[str, Sequence[float]]]]:
        """Yield records of one source, and their vectors that can be reused, by text."""
        try:
            if with_vectors:
                for stored in self.old.scan_points():
                    found = [read_payload(point.id, point.payload) for point in stored.points]
                    yield self._moving(found), self._reusable(stored, found)
            else:
                for batch in in_batches(self.old.scan(None, None, {}), _BATCH):
                    for same in by_source(self._moving(batch), _BATCH):
                        yield same, {}
        except RecordDamagedError as error:
            self._damaged = list(error.records)

    def _moving(self, records: Sequence[Record]) -> list[Record]:
        # Index runs make the marks of checkouts anew.
        return [r for r in records if r.source != CHECKOUTS and self.moves(r.project)]

    def _reusable(
        self, stored: StoredBatch, records: Sequence[Record]
    ) -> dict[str, Sequence[float]]:
        model = self.embedders.of(stored.source).name
        if model in (None, KEYWORDS_ONLY) or model != stored.model:
            return {}
        points = zip(records, stored.points, strict=True)
        return {r.searched_text: point.dense for r, point in points if point.dense is not None}

    def _copy(
        self,
        records: Sequence[Record],
        vectors: Mapping[str, Sequence[float]],
        unseen: set[str],
    ) -> int:
        """Write those of one source's records that the new store lacks; return their number."""
        wanted = self.redact(self.renamed(records))
        unseen.difference_update(each.point_id for each in wanted)
        there = self._stored(wanted)
        missing = []
        for old, new in zip(records, wanted, strict=True):
            scope = self._scope(old, new.project)
            scope.records += 1
            stored = there.get(new.point_id)
            checksum = record_checksum(new)
            if stored is not None and record_checksum(stored) == checksum:
                scope.checksum = (scope.checksum + checksum) % 2**32
            elif self._is_newer(new, stored):
                missing.append(new)
                self._copied[scope.key] += 1
            else:
                scope.other += 1
        if missing and self.new is not None and self.writes:
            self._put(missing, vectors)
        return len(missing)

    def _scope(self, old: Record, target: str) -> MovedScope:
        key = old.source, old.project, target
        if key not in self._scopes:
            self._scopes[key] = MovedScope(*key)
        return self._scopes[key]

    def _stored(self, records: Sequence[Record]) -> dict[str, Record]:
        if self.new is None:
            return {}
        try:
            found = self.new.get([record.point_id for record in records])
        except RecordDamagedError:
            # Writing the records again repairs them.
            return {}
        return {record.point_id: record for record in found}

    def _is_newer(self, record: Record, stored: Record | None) -> bool:
        """Whether to write a record that the new store has not, or not so.

        After a move has finished, people work in the new store: what they change or delete there
        stays, and only what was created in the old store since is copied.
        """
        if stored is not None and stored.created_at != record.created_at:
            return record.created_at > stored.created_at
        return self._finished_at is None or (
            stored is None and record.created_at > self._finished_at
        )

    def _put(self, records: Sequence[Record], vectors: Mapping[str, Sequence[float]]) -> None:
        source = records[0].source
        embedder = self.embedders.of(source)
        embedder.known = dict(vectors)
        # Asked before anything is stored: a record without its vector would count as copied.
        made = embedder.dense([record.searched_text for record in records])
        if made is None and embedder.name != KEYWORDS_ONLY:
            raise StoreError(
                f"the records of '{source}' have no vectors: {embedder.problem}; correct that and "
                f"run the command again, it goes on where it stopped"
            )
        if self.new is not None:
            self.new.put(records)
            self._written.update(record.point_id for record in records)

    def _counted(self) -> list[MovedScope]:
        """Count the new store's records, by its indexes rather than its records."""
        for key, scope in self._scopes.items():
            scope.copied = self._copied[key]
            if self.new is not None:
                scope.stored = self.new.count(scope.source, [scope.target], {})
        return [scope for _, scope in sorted(self._scopes.items())]


@frozen
class _Marker:
    """A file that has the time of the last finished move between two stores."""

    path: Path

    @classmethod
    def of(cls, old: RecordStore, new: RecordStore) -> _Marker:
        folder = data_folder() / "state" / new.identity.id
        return cls(folder / f"moved-from-{old.identity.id}.json")

    def read(self) -> datetime | None:
        try:
            return datetime.fromisoformat(json.loads(self.path.read_bytes())["finished_at"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self) -> None:
        try:
            make_private_folder(self.path.parent)
            write_atomically(self.path, json.dumps({"finished_at": datetime.now(UTC).isoformat()}))
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error
