"""Read records from an open shard, skipping damaged ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import qdrant_edge as edge
from attrs import field, frozen

from contextkit.errors import RecordDamagedError, StoreError
from contextkit.models.record import Record
from contextkit.store.base import BM25, StoredVectors
from contextkit.store.edge_queries import PlannedSearch
from contextkit.store.engine_errors import engine_errors
from contextkit.store.hybrid import RawHits
from contextkit.store.payloads import Damage, Payload
from contextkit.text.keywords import KeywordVector, embed_keywords


@frozen
class Page:
    """One page of a scroll through a shard.

    Attributes:
        keys: the points, in the engine's order.
        records: point -> its record; damaged ones are missing.
        next: the start of the next page; None at the end.
    """

    keys: Sequence[str]
    records: dict[str, Record]
    next: Any


@frozen
class EdgeReader:
    """Reads the records of one store.

    Attributes:
        path: the store's folder, for errors.
        damage: the damaged records that were found.
    """

    path: Path
    damage: Damage = field(factory=Damage)

    def fetch(self, shard: edge.EdgeShard, point_ids: Sequence[str]) -> dict[str, Record]:
        """Return the sound records at these points, by point."""
        return self.damage.sound(self._payloads(shard, point_ids)) if point_ids else {}

    def get(self, shard: edge.EdgeShard, point_ids: Sequence[str]) -> list[Record]:
        """Return the records at these points, or raise `RecordDamagedError`."""
        found = self.fetch(shard, point_ids)
        if damaged := self.damage.names(point_ids):
            raise RecordDamagedError(damaged)
        keys = [point_id.replace("-", "") for point_id in point_ids]
        return [found[key] for key in keys if key in found]

    def page(self, shard: edge.EdgeShard, **request: Any) -> Page:
        """Return the page of records that an `edge.ScrollRequest` selects."""
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points, offset = shard.scroll(edge.ScrollRequest(**request, with_payload=True))
                payloads: list[Payload] = [(_key(point), point.payload) for point in points]
        except StoreError:
            with engine_errors(f"reading the store at {self.path}"):
                points, offset = shard.scroll(edge.ScrollRequest(**request, with_payload=False))
            payloads = self._payloads(shard, [_key(point) for point in points])
        keys = [key for key, _ in payloads]
        return Page(keys, self.damage.sound(payloads), offset)

    def _payloads(self, shard: edge.EdgeShard, point_ids: Sequence[str]) -> list[Payload]:
        """Fetch payloads, bisecting if the engine cannot read all."""
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(list(point_ids), with_payload=True, with_vector=False)
                return [(_key(point), point.payload) for point in points]
        except StoreError:
            if len(point_ids) == 1:
                return [(point_ids[0], None)]
            middle = len(point_ids) // 2
            found = [
                payload
                for half in (point_ids[:middle], point_ids[middle:])
                for payload in self._payloads(shard, half)
            ]
            if all(payload is None for _, payload in found):
                # If no record can be read, the store is the problem.
                raise
            return found

    def vectors(self, shard: edge.EdgeShard, ids: Sequence[str]) -> dict[str, StoredVectors]:
        """Return the readable vectors of these points, by point."""
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(list(ids), with_payload=False, with_vector=True)
                return {_key(point): _vectors(point.vector) for point in points}
        except StoreError:
            if len(ids) == 1:
                return {}
            middle = len(ids) // 2
            return self.vectors(shard, ids[:middle]) | self.vectors(shard, ids[middle:])

    def answer(self, shard: edge.EdgeShard, planned: Sequence[PlannedSearch]) -> list[RawHits]:
        """Answer several searches with one engine request."""
        requests = [request for plan in planned for request in plan.requests]
        with engine_errors(f"searching the store at {self.path}"):
            answers = iter(shard.query_batch(edge.QueryBatchRequest(requests)) if requests else [])
        return [
            RawHits(
                keyword_scores=_scores(next(answers)) if plan.keywords else {},
                similarities=_scores(next(answers)) if plan.dense else None,
            )
            for plan in planned
        ]

    def words(self, shard: edge.EdgeShard, point_ids: Sequence[str]) -> dict[str, frozenset[int]]:
        """Return the word ids that these points were stored with."""
        if not point_ids:
            return {}
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(list(point_ids), with_payload=False, with_vector=[BM25])
                vectors = {_key(point): cast("dict[str, Any]", point.vector) for point in points}
                return {key: frozenset(vector[BM25].indices) for key, vector in vectors.items()}
        except StoreError:
            records = self.fetch(shard, point_ids)
            return {
                key: frozenset(embed_keywords(record.searched_text).indices)
                for key, record in records.items()
            }


def _vectors(stored: Any) -> StoredVectors:
    named = dict(stored or {})
    sparse = named.pop(BM25, None)
    keywords = KeywordVector([], []) if sparse is None else sparse
    return StoredVectors(
        KeywordVector(list(keywords.indices), list(keywords.values)), list(named.values())
    )


def _scores(points: Sequence[edge.ScoredPoint]) -> dict[str, float]:
    return {_key(point): point.score for point in points}


def _key(point: edge.ScoredPoint | edge.Record) -> str:
    """A point's id as text, in its fastest form."""
    return cast("UUID", point.id).hex
