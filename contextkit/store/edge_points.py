"""Read points with their stored vectors, to copy them elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as edge
from attrs import frozen

from contextkit.errors import StoreError
from contextkit.store.base import StoredBatch, StoredPoint
from contextkit.store.edge_reading import StoredVectors, stored_vectors
from contextkit.store.engine_errors import engine_errors
from contextkit.store.identity import StoreIdentity
from contextkit.store.payloads import Damage

_PAGE = 512


@frozen
class RawPoint:
    """A point as the engine has it.

    Attributes:
        id: the engine's id.
        payload: None if the engine cannot read it.
        vectors: empty if the engine cannot read them.
    """

    id: Any
    payload: Mapping[str, Any] | None
    vectors: StoredVectors

    def stored(self, point_id: str) -> StoredPoint:
        """The point of a record, under this UUID."""
        dense = self.vectors.dense
        return StoredPoint(
            id=point_id,
            payload=self.payload or {},
            keywords=self.vectors.keywords,
            dense=list(dense[0]) if dense else None,
        )


@frozen
class PointPage:
    """One page of a shard's points, in the order of their ids.

    Attributes:
        points: the points.
        next: the start of the next page; None at the end.
    """

    points: Sequence[RawPoint]
    next: Any

    def batches(self, damage: Damage, identity: StoreIdentity) -> list[StoredBatch]:
        """The points of sound records, by source."""
        sound = damage.sound((int(point.id), point.payload) for point in self.points)
        by_source: dict[str, list[StoredPoint]] = defaultdict(list)
        for point in self.points:
            if (record := sound.get(point.id)) is not None:
                by_source[record.source].append(point.stored(record.point_id))
        return [_batch(source, points, identity) for source, points in by_source.items()]


def _batch(source: str, points: Sequence[StoredPoint], identity: StoreIdentity) -> StoredBatch:
    name = identity.sources.get(source)
    model = identity.models.get(name or "")
    return StoredBatch(source, name, None if model is None else model.dimensions, points)


def read_page(shard: edge.EdgeShard, path: Path, offset: Any) -> PointPage:
    """Read one page, point by point if the engine cannot read all."""
    reading = f"reading the store at {path}"
    try:
        with engine_errors(reading):
            whole = edge.ScrollRequest(
                limit=_PAGE, offset=offset, with_payload=True, with_vector=True
            )
            found, after = shard.scroll(whole)
            return PointPage([_raw(point) for point in found], after)
    except StoreError:
        with engine_errors(reading):
            ids = edge.ScrollRequest(limit=_PAGE, offset=offset, with_payload=False)
            found, after = shard.scroll(ids)
        return PointPage(list(_each(shard, [point.id for point in found])), after)


def _each(shard: edge.EdgeShard, ids: Sequence[Any]) -> Iterator[RawPoint]:
    for point in ids:
        for parts in ((True, True), (True, False)):
            try:
                with engine_errors("reading a point"):
                    [found] = shard.retrieve([point], *parts)
            except (StoreError, ValueError):
                continue
            yield _raw(found)
            break
        else:
            yield RawPoint(point, None, stored_vectors(None))


def _raw(point: edge.Record) -> RawPoint:
    return RawPoint(point.id, point.payload, stored_vectors(point.vector))
