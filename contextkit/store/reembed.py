"""Making an embedded store's vectors anew with another embedder."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import qdrant_edge as edge
from attrs import evolve

from contextkit.embedding import Embedder
from contextkit.errors import StoreError
from contextkit.records import Record
from contextkit.store.base import record_from_payload, stored_points
from contextkit.store.edge_queries import edge_filter, edge_point
from contextkit.store.engine_errors import engine_errors
from contextkit.store.shard_folder import SPARE_BYTES, ShardFolder
from contextkit.store.shard_lock import ShardLock

__all__ = ["reembed"]

_BATCH = 256
_LOCK_TIMEOUT = 10.0


def reembed(
    path: Path,
    embedder: Embedder,
    dense_for: Callable[[str], bool],
    progress: Callable[[int, int | None], None],
    *,
    lock_timeout: float = _LOCK_TIMEOUT,
) -> int:
    """Replace a store's shard by one with the embedder's vectors; return its record count.

    The store's id stays. Until everything is made the old shard is the store's, whatever
    ends the process. Other processes wait meanwhile, or get a `StoreBusyError`.

    Args:
        path: the store's folder.
        embedder: makes the dense vectors.
        dense_for: whether a source's records have dense vectors.
        progress: told how many records are done, of how many.
        lock_timeout: seconds to wait for another process that has the store.

    Raises:
        StoreError: where there is no store, or the embedder cannot make vectors.
        StoreFullError: where the disk has no room for a second shard.
    """
    if embedder.problem:
        raise StoreError(f"the store at {path} cannot be re-embedded: {embedder.problem}")
    if not path.is_dir():
        raise StoreError(f"there is no store at {path} to re-embed")
    lock = ShardLock(path, lock_timeout)
    lock.acquire()
    try:
        return _rebuild(ShardFolder(path), embedder, dense_for, progress)
    except OSError as error:
        raise StoreError(f"the store at {path} cannot be re-embedded: {error}") from error
    finally:
        lock.release()


def _rebuild(
    folder: ShardFolder,
    embedder: Embedder,
    dense_for: Callable[[str], bool],
    progress: Callable[[int, int | None], None],
) -> int:
    folder.tidy()
    if not folder.shard.exists():
        raise StoreError(f"there is no store at {folder.path} to re-embed")
    identity = evolve(folder.identity(), model=embedder.name)
    folder.require_room(folder.size(), SPARE_BYTES, "a second copy")
    old = folder.load()
    try:
        with engine_errors(f"reading the store at {folder.path}"):
            total = old.count(edge.CountRequest(exact=True))
        done = 0
        with folder.replacing(identity) as new:
            for page in _pages(old, folder.path):
                _copy(page, new, embedder, dense_for)
                done += len(page)
                progress(done, total)
            # The old shard's folder is renamed at the end of this block.
            old.close()
    finally:
        old.close()
    return done


def _pages(shard: edge.EdgeShard, path: Path) -> Iterator[list[Record]]:
    offset = None
    while True:
        request = edge.ScrollRequest(
            limit=_BATCH, offset=offset, filter=edge_filter([]), with_payload=True
        )
        with engine_errors(f"reading the store at {path}"):
            points, offset = shard.scroll(request)
        yield [record_from_payload(point.payload or {}) for point in points]
        if offset is None:
            return


def _copy(
    records: Sequence[Record],
    shard: edge.EdgeShard,
    embedder: Embedder,
    dense_for: Callable[[str], bool],
) -> None:
    by_source = itertools.groupby(
        sorted(records, key=lambda record: record.source), key=lambda record: record.source
    )
    for source, of_source in by_source:
        points = stored_points(list(of_source), embedder, dense=dense_for(source))
        with engine_errors("writing the new shard"):
            shard.update(edge.UpdateOperation.upsert_points([edge_point(p) for p in points]))
            shard.flush()
