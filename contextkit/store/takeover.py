"""Replace a shard of the schema before, with all its records and vectors.

The old shard stays until the new one is complete, whenever the process is killed: `replacing`
renames the one over the other. Other processes wait for the store's lock meanwhile.
"""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import qdrant_edge as edge
from attrs import define, field

from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.logs import get_logger
from contextkit.store.base import StoredPoint
from contextkit.store.edge_points import PointPage, RawPoint, read_page
from contextkit.store.edge_queries import edge_point, index_of, model_vector, new_keyword_vector
from contextkit.store.engine_errors import engine_errors
from contextkit.store.identity import StoreIdentity, new_models
from contextkit.store.payloads import unreadable
from contextkit.store.shard_folder import SPARE_BYTES, OlderShardError, ShardFolder

UNFLUSHED_POINTS = 8192
"""Written points after which a shard is flushed."""

_REPORT_SECONDS = 5.0

_log = get_logger(__name__)


def open_shard(folder: ShardFolder, embedders: Embedders) -> tuple[edge.EdgeShard, StoreIdentity]:
    """Open a shard as `ShardFolder.open` does, replacing one of the schema before."""
    try:
        return folder.open(embedders)
    except OlderShardError as older:
        _take_over(folder, older.identity)
        return folder.open(embedders)


def current_identity(folder: ShardFolder) -> StoreIdentity:
    """Read a shard's identity, replacing a shard of the schema before."""
    try:
        return folder.identity()
    except OlderShardError as older:
        _take_over(folder, older.identity)
        return folder.identity()


def _take_over(folder: ShardFolder, older: StoreIdentity) -> None:
    """Replace a shard of the schema before by one of this version.

    Damaged records stay as they are. Those that the engine cannot read at all are noted as lost.
    It takes about 20 seconds for 100,000 records, and as much room on the disk as the shard has.

    Raises:
        StoreError: the shard cannot be replaced; it is unchanged.
    """
    try:
        folder.require_room(
            folder.room_to_optimize(), SPARE_BYTES, "converting it to this version's format"
        )
        _Takeover(folder, older).run()
    except OSError as error:
        raise _failed(folder, str(error)) from error


def _failed(folder: ShardFolder, reason: str) -> StoreError:
    return StoreError(
        f"the store at {folder.named} has an older format and cannot be converted ({reason}); it "
        f"is unchanged: run `contextkit export` with the version that made it, then `contextkit "
        f"import` into a new store"
    )


@define
class _Takeover:
    folder: ShardFolder
    older: StoreIdentity
    _sources: set[str] = field(factory=set, init=False)
    _copied: int = field(default=0, init=False)
    _checksums: int = field(default=0, init=False)
    _unflushed: int = field(default=0, init=False)
    _lost: list[str] = field(factory=list, init=False)

    def run(self) -> None:
        """Copy, verify and swap."""
        place = str(self.folder.named)
        old = self.folder.load()
        try:
            with engine_errors(f"reading the store at {place}"):
                total = old.count(edge.CountRequest(exact=True))
                indexed = sorted(old.info().payload_schema)
            _log.warning("store_conversion_began", store=place, records=total)
            with self.folder.replacing(self.older) as new:
                writing = engine_errors("writing the new shard")
                with writing:
                    for model in new_models(StoreIdentity(self.older.id), self.older):
                        new.shard.update(model_vector(model))
                    for key in indexed:
                        index = edge.UpdateOperation.create_field_index(key, index_of(key))
                        new.shard.update(index)
                self._copy(old, new.shard, total)
                self._verify(new.shard)
                with engine_errors("optimizing the new shard"):
                    new.shard.flush()
                    new.shard.optimize()
                self._keep_notes()
                # The old shard's folder is renamed at the end of this block.
                old.close()
        finally:
            old.close()
        _log.warning("store_converted", store=place, records=self._copied)
        if self._lost:
            names = ", ".join(self._lost)
            self.folder.lost.add(f"{names} could not be read when the store was converted")

    def _copy(self, old: edge.EdgeShard, new: edge.EdgeShard, total: int) -> None:
        reported = time.monotonic()
        for page in self._pages(old):
            for source, points in self._by_source(page.points):
                self._write(new, source, points)
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                _log.warning("store_conversion_goes_on", done=self._copied, records=total)

    def _pages(self, shard: edge.EdgeShard) -> Iterator[PointPage]:
        offset: Any = None
        while True:
            page = read_page(shard, self.folder.named, offset)
            yield page
            offset = page.next
            if offset is None:
                return

    def _by_source(self, points: Iterable[RawPoint]) -> Iterable[tuple[str, Sequence[StoredPoint]]]:
        found: dict[str, list[StoredPoint]] = defaultdict(list)
        for point in points:
            source = (point.payload or {}).get("source")
            if isinstance(source, str):
                found[source].append(point.stored(str(point.id)))
            else:
                self._lost.append(unreadable(str(point.id)))
        return found.items()

    def _write(self, shard: edge.EdgeShard, source: str, points: Sequence[StoredPoint]) -> None:
        vector = self.older.vector_for(self.older.sources.get(source))
        made = [edge_point(point, source, vector) for point in points]
        with engine_errors("writing the new shard"):
            if source not in self._sources:
                self._sources.add(source)
                shard.update(new_keyword_vector(source))
            shard.update(edge.UpdateOperation.upsert_points(made))
            self._unflushed += len(made)
            if self._unflushed >= UNFLUSHED_POINTS:
                self._unflushed = 0
                shard.flush()
        self._copied += len(made)
        self._checksums += sum(_checksum(point.payload) for point in points)

    def _verify(self, shard: edge.EdgeShard) -> None:
        """Raise `StoreError` unless every record arrived."""
        found, checksums, offset = 0, 0, None
        while True:
            with engine_errors("reading the new shard"):
                points, offset = shard.scroll(
                    edge.ScrollRequest(limit=UNFLUSHED_POINTS, offset=offset, with_payload=True)
                )
                found += len(points)
                checksums += sum(_checksum(point.payload) for point in points)
            if offset is None:
                break
        if (found, checksums) != (self._copied, self._checksums):
            raise _failed(self.folder, f"{found:,} of {self._copied:,} records arrived")

    def _keep_notes(self) -> None:
        """Copy the note of lost records."""
        note = self.folder.lost.note
        if note.exists():
            shutil.copy2(note, self.folder.new / note.name)


def _checksum(payload: Any) -> int:
    checksum = (payload or {}).get("checksum")
    return checksum if isinstance(checksum, int) else 0
