"""Rebuild an embedded store's vectors with the configured models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import qdrant_edge as edge
from attrs import frozen

from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder
from contextkit.errors import RecordDamagedError, StoreError
from contextkit.models.record import Record
from contextkit.store.base import by_source, stored_batch
from contextkit.store.edge_queries import edge_point, model_vector, new_keyword_vector
from contextkit.store.edge_reading import EdgeReader
from contextkit.store.engine_errors import engine_errors
from contextkit.store.identity import StoreIdentity, new_models
from contextkit.store.reused_vectors import chosen_embedder
from contextkit.store.revisions import FolderRevisions
from contextkit.store.shard_folder import SPARE_BYTES, NewShard, ShardFolder
from contextkit.store.shard_lock import ShardLock
from contextkit.store.takeover import current_identity

_BATCH = 256
_LOCK_TIMEOUT = 10.0


@frozen
class Reembedded:
    """The result of re-embedding.

    Attributes:
        records: the number of records.
        models: source -> the model of its records' new vectors.
    """

    records: int
    models: Mapping[str, str]


def reembed(
    path: Path,
    embedders: Embedders,
    progress: Callable[[int, int | None], None],
    *,
    redact: Callable[[Sequence[Record]], Sequence[Record]] = list,
    lock_timeout: float = _LOCK_TIMEOUT,
) -> Reembedded:
    """Replace a store's shard by one with new vectors.

    The store keeps its id. The old shard is used until the new one is complete, even if the
    process is killed. Other processes wait meanwhile, or get a `StoreBusyError`. A source that
    is not installed gets vectors of the default model, or none if it had none.

    Args:
        path: the store's folder.
        embedders: make the dense vectors of each source.
        progress: called with the number of records done and the total.
        redact: replaces secrets in the records; default: keeps them as they are.
        lock_timeout: seconds to wait for another process that makes no progress.

    Raises:
        RecordDamagedError: a record is damaged; the old shard stays.
        StoreError: there is no store, or a model cannot make vectors.
        StoreFullError: the disk has no room for a second shard.
    """
    if not path.is_dir():
        raise StoreError(f"there is no store at {path} to re-embed")
    lock = ShardLock(path, lock_timeout)
    lock.acquire()
    try:
        return _rebuild(ShardFolder(path), embedders, progress, redact)
    except OSError as error:
        raise StoreError(f"the store at {path} cannot be re-embedded: {error}") from error
    finally:
        lock.release()


def _rebuild(
    folder: ShardFolder,
    embedders: Embedders,
    progress: Callable[[int, int | None], None],
    redact: Callable[[Sequence[Record]], Sequence[Record]],
) -> Reembedded:
    folder.tidy()
    if not folder.shard.exists():
        raise StoreError(f"there is no store at {folder.path} to re-embed")
    before = current_identity(folder)
    folder.require_room(folder.size(), SPARE_BYTES, "a second copy")
    old = folder.load()
    try:
        with engine_errors(f"reading the store at {folder.path}"):
            total = old.count(edge.CountRequest(exact=True))
        done = 0
        with folder.replacing(StoreIdentity(before.id)) as new:
            for page in _pages(old, folder.path):
                for same in by_source(redact(page), _BATCH):
                    _copy(same, new, chosen_embedder(same[0].source, before, embedders), folder)
                done += len(page)
                progress(done, total)
            # The old shard's folder is renamed at the end of this block.
            old.close()
    finally:
        old.close()
    FolderRevisions(folder.path).begin()
    FolderRevisions(folder.path).changed(None)
    return Reembedded(done, new.identity.sources)


def _pages(shard: edge.EdgeShard, path: Path) -> Iterator[list[Record]]:
    """Yield every record; raise `RecordDamagedError` instead of losing one."""
    reader, offset = EdgeReader(path), None
    while True:
        page = reader.page(shard, limit=_BATCH, offset=offset)
        if damaged := reader.damage.names(page.keys):
            raise RecordDamagedError(damaged)
        yield list(page.records.values())
        offset = page.next
        if offset is None:
            return


def _copy(
    records: Sequence[Record], new: NewShard, embedder: Embedder, folder: ShardFolder
) -> None:
    batch = stored_batch(records, embedder)
    if embedder.problem is not None or batch.model is None:
        raise StoreError(f"{folder.place.name} cannot be re-embedded: {embedder.problem}")
    before = new.identity
    new.identity = before.admitting(batch.source, batch.model, batch.dimensions, folder.place)
    vector = new.identity.vector_for(batch.model)
    points = [edge_point(point, batch.source, vector) for point in batch.points]
    with engine_errors("writing the new shard"):
        new.shard.update(new_keyword_vector(batch.source))
        for added in new_models(before, new.identity):
            new.shard.update(model_vector(added))
        new.shard.update(edge.UpdateOperation.upsert_points(points))
        new.shard.flush()
