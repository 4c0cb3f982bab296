"""Read points of a Qdrant collection in pages that its limits allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from attrs import frozen
from qdrant_client import QdrantClient, models

from contextkit.store.base import BM25, StoredBatch, StoredPoint
from contextkit.store.identity import StoredModel, StoreIdentity
from contextkit.store.payloads import Damage, Payload
from contextkit.store.server_limits import ServerLimits
from contextkit.store.server_queries import id_conditions
from contextkit.text.keywords import KeywordVector

_PAGE = 256


@frozen
class PointReader:
    """Reads the points of one collection.

    Attributes:
        client: asks the server.
        collection: the collection's name.
        limits: what strict mode allows.
    """

    client: QdrantClient
    collection: str
    limits: ServerLimits

    def page(
        self,
        selected: models.Filter,
        offset: Any,
        *,
        with_payload: bool = True,
        with_vectors: bool = False,
    ) -> tuple[Sequence[models.Record], Any]:
        """Return a page of points, and where the next one starts; None after the last."""
        return self.client.scroll(
            self.collection,
            selected,
            limit=self.limits.results(_PAGE),
            offset=offset,
            with_payload=with_payload,
            with_vectors=with_vectors,
        )

    def all(self, selected: models.Filter, *, with_payload: bool = True) -> Iterator[models.Record]:
        """Iterate over all points."""
        offset: Any = None
        while True:
            points, offset = self.page(selected, offset, with_payload=with_payload)
            yield from points
            if offset is None:
                return

    def newest(self, selected: models.Filter, limit: int) -> list[models.Record]:
        """Return the newest points; those of one moment in any order."""
        found: list[models.Record] = []
        last: datetime | None = None
        while len(found) < limit:
            # The next page starts with the last moment: leave out the points that were read.
            read = [each.id for each in found if _created_at(each) == last]
            order = models.OrderBy(
                key="created_at", direction=models.Direction.DESC, start_from=last
            )
            most = self.limits.results(limit - len(found))
            points, _ = self.client.scroll(
                self.collection,
                self._without(selected, read),
                limit=most,
                order_by=order,
                with_payload=True,
            )
            found += points
            if len(points) < most:
                break
            last = _created_at(points[-1])
        return found

    def _without(
        self, selected: models.Filter, read: Sequence[models.ExtendedPointId]
    ) -> models.Filter:
        if not read:
            return selected
        return models.Filter(must=[selected], must_not=id_conditions(read, self.limits))

    def count(self, selected: models.Filter) -> int:
        """Count the points exactly."""
        if not self.limits.exact:
            return sum(1 for _ in self.all(selected, with_payload=False))
        return self.client.count(self.collection, count_filter=selected, exact=True).count

    def search(self, requests: Sequence[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        """Answer searches, in as few requests as possible."""
        most = self.limits.searches(len(requests)) if requests else 1
        return [
            answer.points
            for start in range(0, len(requests), most)
            for answer in self.client.query_batch_points(
                self.collection, requests[start : start + most]
            )
        ]


def payloads(points: Iterable[models.ScoredPoint | models.Record]) -> Iterator[Payload]:
    """The points' ids and payloads."""
    return ((str(point.id), point.payload) for point in points)


def stored_batches(
    points: Sequence[models.Record], identity: StoreIdentity, damage: Damage
) -> list[StoredBatch]:
    """The points of sound records with their vectors, by source."""
    found = {str(point.id): point for point in points}
    of_source: dict[str, list[models.Record]] = defaultdict(list)
    for point_id, record in damage.sound(payloads(points)).items():
        of_source[record.source].append(found[point_id])
    batches = []
    for source, same in of_source.items():
        name = identity.sources.get(source)
        model = identity.models.get(name or "")
        stored = [_stored(point, model) for point in same]
        dimensions = None if model is None else model.dimensions
        batches.append(StoredBatch(source, name, dimensions, stored))
    return batches


def _stored(point: models.Record, model: StoredModel | None) -> StoredPoint:
    vectors = cast("dict[str, Any]", point.vector or {})
    sparse = vectors.get(BM25) or models.SparseVector(indices=[], values=[])
    return StoredPoint(
        id=str(point.id),
        payload=point.payload or {},
        keywords=KeywordVector(sparse.indices, sparse.values),
        dense=None if model is None else vectors.get(model.vector),
    )


def _created_at(point: models.Record) -> datetime:
    return datetime.fromisoformat((point.payload or {})["created_at"])
