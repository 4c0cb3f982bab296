"""The embedded store: Qdrant Edge in a folder.

Only one process at a time may open a shard, so this process keeps it open until another one
waits for it (`turns`). A write survives the end of the process as soon as it returns, because
it is in the engine's write-ahead log.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import qdrant_edge as edge
from attrs import Factory, define, field

from contextkit.concurrency import ForkLock
from contextkit.embedding.choice import Embedders
from contextkit.errors import RecordDamagedError
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.store.base import (
    MOST_HITS,
    Match,
    StoredBatch,
    StoredPoint,
    by_source,
    conditions,
    newest_first,
    stored_batch,
)
from contextkit.store.edge_points import read_page
from contextkit.store.edge_queries import (
    STORE_INDEXES,
    FieldIndexes,
    edge_filter,
    edge_point,
    index_of,
    model_vector,
    new_keyword_vector,
)
from contextkit.store.edge_reading import EdgeReader
from contextkit.store.engine_errors import engine_errors
from contextkit.store.hybrid import embed_queries, prepare_queries, vector_names
from contextkit.store.identity import StoreIdentity, new_models
from contextkit.store.payloads import point_numbers, projects_by_source
from contextkit.store.reading_copy import ReadingCopy
from contextkit.store.revisions import FolderRevisions
from contextkit.store.shard_folder import SPARE_BYTES, WORTH_OPTIMIZING, ShardFolder
from contextkit.store.sizes import records_bytes, vectors_bytes
from contextkit.store.takeover import UNFLUSHED_POINTS, open_shard
from contextkit.store.turns import SharedShard

_WRITE_BATCH = 256
_PAGE = 512
_NEWEST_FIRST = edge.OrderBy("created_at", edge.Direction.Desc)


def _of_path(make: Callable[[Path], Any]) -> Any:
    """A default that is built from the store's folder."""
    return Factory(lambda store: make(store.path), takes_self=True)


@define(eq=False)
class EmbeddedStore:
    """A record store in a folder, created on first use.

    Attributes:
        path: the store's folder.
        embedders: make the dense vectors of each source.
        lock_timeout: seconds to wait for another process that makes no progress.
        idle_seconds: seconds without use before the shard is closed.
        indexed_fields: source -> the record fields that its filters use.
    """

    path: Path
    embedders: Embedders
    lock_timeout: float = 10.0
    idle_seconds: float = 30.0
    indexed_fields: Mapping[str, Sequence[str]] = Factory(dict)
    _folder: ShardFolder = field(init=False, default=_of_path(ShardFolder))
    _shared: SharedShard = field(init=False)
    _revisions: FolderRevisions = field(init=False, default=_of_path(FolderRevisions))
    _identity: StoreIdentity | None = field(default=None, init=False)
    _projects: dict[str, set[str]] = field(factory=dict, init=False)
    _fields: FieldIndexes = field(
        init=False,
        default=Factory(lambda store: FieldIndexes(store.indexed_fields), takes_self=True),
    )
    _admitting: ForkLock = field(factory=ForkLock, init=False)
    _writing: ForkLock = field(factory=ForkLock, init=False)
    _unflushed: int = field(default=0, init=False)
    _written: bool = field(default=False, init=False)
    _reader: EdgeReader = field(init=False, default=_of_path(EdgeReader))
    _copy: ReadingCopy | None = field(default=None, init=False)

    @_shared.default
    def _make_shared(self) -> SharedShard:
        return SharedShard(
            self.path, self._load, self._closed, self.lock_timeout, self.idle_seconds
        )

    # -- opening --------------------------------------------------------------------------

    def hold(self) -> contextlib.AbstractContextManager[None]:
        """Keep the shard open for several operations."""
        return self._shared.hold()

    def _load(self, read_only: bool) -> edge.EdgeShard:
        self._copy = ReadingCopy.of(self.path) if read_only else None
        if self._copy is None:
            shard = self._open(self._folder)
            self._revisions.begin()
            return shard
        try:
            return self._open(self._copy.folder)
        finally:
            self._copy.remove()

    def _open(self, folder: ShardFolder) -> edge.EdgeShard:
        shard, self._identity = open_shard(folder, self.embedders)
        self._unflushed = 0
        self._written = False
        # Another process may have rewritten the damaged records.
        self._reader.damage.mended(None)
        self._reader.cache.clear()
        known = self._ensure_indexes(shard)
        scopes = self._reader.scopes(shard)
        self._projects = projects_by_source(scopes)
        self._fields.begin(known, scopes)
        return shard

    def _closed(self) -> None:
        if self._copy is None:
            self._folder.closed()

    def _require_writable(self) -> None:
        if self._copy is not None:
            self._copy.refuse_write()

    def _ensure_indexes(self, shard: edge.EdgeShard) -> set[str]:
        """Create every store's indexes and return all indexed keys."""
        with engine_errors(f"opening the store at {self.path}"):
            known = set(shard.info().payload_schema)
        self._make_indexes(shard, STORE_INDEXES.keys() - known)
        return known | STORE_INDEXES.keys()

    def _make_indexes(self, shard: edge.EdgeShard, keys: Iterable[str]) -> None:
        for key in sorted(keys):
            self._folder.require_room(0, SPARE_BYTES, "indexing it")
            self._written = True
            with engine_errors(f"indexing the store at {self.path}"):
                shard.update(edge.UpdateOperation.create_field_index(key, index_of(key)))

    # -- the interface --------------------------------------------------------------------

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and models; opens the store."""
        with self._shared.use():
            return self._known()

    @property
    def problem(self) -> str | None:
        """Why searches are worse than they should be, or None."""
        stored = (self._reader.damage.problem, self._folder.lost.problem)
        return "; ".join(filter(None, (self.embedders.problem, *stored))) or None

    def revision(self, source: str) -> str | None:
        """A token that changes with a source's records."""
        return self._revisions.of(source)

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Load the models, embed the queries, open the shard."""
        # First what takes long and needs no shard, which other processes may want.
        prepare_queries(searched, self.embedders)
        with self._shared.use():
            pass

    def _known(self) -> StoreIdentity:
        return cast("StoreIdentity", self._identity)

    def close(self) -> None:
        """Close the shard; later work opens it again."""
        self._shared.close()

    def leave(self) -> None:
        """Close the shard if it was written to: closing drops files from the page cache."""
        if self._written or self._copy is not None:
            self.close()
        else:
            self._shared.while_open(self._folder.left)

    def optimize(self) -> bool:
        """Optimize the shard; return whether that was needed.

        An optimized shard opens in half the time, deleted records free their room, and searches of
        50,000 records get faster. It takes a second for 10,000 records, and as much room on the
        disk as the shard has; it blocks this process. A small shard is quicker as it is.
        """
        with self._shared.use() as shard:
            self._require_writable()
            if self._folder.size() < WORTH_OPTIMIZING:
                return False
            self._folder.require_room(self._folder.room_to_optimize(), SPARE_BYTES, "optimizing it")
            # Word frequencies no longer count deleted records, which changes scores.
            with self._noted(None), engine_errors(f"optimizing the store at {self.path}"):
                done = shard.optimize()
        if done:
            # Closing deletes the replaced segments.
            self._shared.release()
        return done

    def put(self, records: Sequence[Record]) -> None:
        """Store records durably, replacing those with the same point id."""
        if len(records) > _WRITE_BATCH:
            with self._shared.use():
                self._folder.require_room(records_bytes(records), SPARE_BYTES, "a write")
        # Not in a thread ahead: the engine blocks all of Python's threads while it writes.
        for part in by_source(records, _WRITE_BATCH):
            batch = stored_batch(part, self.embedders.of(part[0].source))
            self._upsert(batch, records_bytes(part) + vectors_bytes(batch))

    def _upsert(self, batch: StoredBatch, size: int) -> None:
        with self._shared.use() as shard:
            self._require_writable()
            vector = self._admit(shard, batch)
            self._index_fields(shard, batch)
            self._reader.refuse_same_numbers(shard, batch.points)
            self._add_projects(shard, batch)
            points = [edge_point(point, batch.source, vector) for point in batch.points]
            upsert = edge.UpdateOperation.upsert_points(points)
            numbers = point_numbers(point.id for point in batch.points)
            self._update(upsert, batch.source, size, numbers, batch.points)
            self._reader.damage.mended(numbers)

    def _add_projects(self, shard: edge.EdgeShard, batch: StoredBatch) -> None:
        """Let later searches know the projects, before their records are written."""
        added = {point.payload["project"] for point in batch.points}
        with self._admitting:
            there = self._projects.get(batch.source)
            if there is None:
                self._folder.require_room(0, SPARE_BYTES, "a write")
                self._written = True
                with engine_errors(f"writing to the store at {self.path}"):
                    shard.update(new_keyword_vector(batch.source))
            self._projects[batch.source] = added.union(there or ())

    def _index_fields(self, shard: edge.EdgeShard, batch: StoredBatch) -> None:
        with self._admitting:
            missing = self._fields.missing(batch, lambda: self._reader.scopes(shard))
            self._make_indexes(shard, missing)
            self._fields.made(missing)

    def _admit(self, shard: edge.EdgeShard, batch: StoredBatch) -> str | None:
        """Record a source's model; return its vectors' name."""
        with self._admitting:
            before = self._known()
            after = before.admitting(
                batch.source, batch.model, batch.dimensions, self._folder.place
            )
            if after != before:
                self._folder.require_room(0, SPARE_BYTES, "a write")
                self._written = True
                with engine_errors(f"writing to the store at {self.path}"):
                    for model in new_models(before, after):
                        shard.update(model_vector(model))
                self._folder.remember(after)
                self._identity = after
        return after.vector_for(batch.model)

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points, ignoring unknown ids."""
        if point_ids:
            numbers = point_numbers(point_ids)
            deletion = edge.UpdateOperation.delete_points(cast("list[edge.PointId]", numbers))
            self._update(deletion, None, 0, numbers)
            self._reader.damage.mended(numbers)

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""
        selected = edge_filter(conditions(source, projects, filters))
        self._update(edge.UpdateOperation.delete_points_by_filter(selected), source, 0, None)
        self._reader.damage.mended(None)

    def _update(
        self,
        operation: edge.UpdateOperation,
        source: str | None,
        size: int,
        numbers: Sequence[int] | None,
        stored: Sequence[StoredPoint] = (),
    ) -> None:
        with self._shared.use() as shard:
            self._require_writable()
            self._folder.require_room(size, SPARE_BYTES, "a write")
            writing = engine_errors(f"writing to the store at {self.path}")
            with self._noted(source, numbers, stored), self._writing, writing:
                self._folder.lost.begun([point.id for point in stored])
                shard.update(operation)
                if stored:
                    self._folder.lost.done(stored[-1])
                self._unflushed += 1 if numbers is None else len(numbers)
                if self._unflushed >= UNFLUSHED_POINTS:
                    # Without a flush the log would grow, and so would the time to replay it.
                    self._unflushed = 0
                    shard.flush()

    @contextlib.contextmanager
    def _noted(
        self,
        source: str | None,
        numbers: Sequence[int] | None = None,
        stored: Sequence[StoredPoint] = (),
    ) -> Iterator[None]:
        """Record a change before and after it (see `contextkit.store.revisions`)."""
        self._written = True
        self._folder.written()
        self._revisions.changed(source)
        try:
            with self._reader.cache.writing(source, numbers, stored):
                yield
        finally:
            self._revisions.changed(source)

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """Return the records at these points, in this order."""
        if not point_ids:
            return []
        with self._shared.use() as shard:
            return self._reader.get(shard, point_numbers(point_ids))

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several searches in one batch, each best first."""
        vectors = embed_queries(searches, self.embedders)
        with self._shared.use() as shard:
            names = vector_names(searches, vectors, self._known(), self._folder.place)
            there = [self._projects.get(search.source, ()) for search in searches]
            few = self._fields.among_few
            return self._reader.search(shard, searches, vectors, names, there, few)

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Iterate over the matching records, page by page."""
        return self._pages(source, conditions(source, projects, filters))

    def _pages(self, source: str | None, matches: Sequence[Match]) -> Iterator[Record]:
        offset, damaged = None, list[str]()
        while True:
            with self._shared.use() as shard:
                few = self._fields.among_few(source, matches)
                page = self._reader.page(shard, matches, few, limit=_PAGE, offset=offset)
            yield from page.records.values()
            damaged += self._reader.damage.names(page.keys)
            offset = page.next
            if offset is None:
                break
        if damaged:
            raise RecordDamagedError(damaged)

    def scan_points(self) -> Iterator[StoredBatch]:
        """Iterate over all records with their stored vectors.

        Raises `RecordDamagedError` for damaged records, after the last sound one.
        """
        offset, damaged = None, list[str]()
        while True:
            with self._shared.use() as shard:
                page = read_page(shard, self.path, offset)
                batches = page.batches(self._reader.damage, self._known())
            yield from batches
            damaged += self._reader.damage.names(point.id for point in page.points)
            offset = page.next
            if offset is None:
                break
        if damaged:
            raise RecordDamagedError(damaged)

    def known_empty(self, source: str, projects: Sequence[str]) -> bool:
        """Whether the open shard has no record of a source in these projects."""
        return self._shared.is_open and self._projects.get(source, set()).isdisjoint(projects)

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """Return the matching records, newest first; ties by id."""
        matches = conditions(source, projects, filters)
        with self._shared.use() as shard:
            few = self._fields.among_few(source, matches)
            most = min(max(limit, 0), MOST_HITS)
            page = self._reader.page(shard, matches, few, limit=most, order_by=_NEWEST_FIRST)
        return newest_first(page.records.values())

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Count the matching records."""
        matches = conditions(source, projects, filters)
        with self._shared.use() as shard:
            return self._reader.count(shard, matches, self._fields.among_few(source, matches))
