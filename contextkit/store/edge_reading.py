"""Read records from an open shard, skipping damaged ones."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import qdrant_edge as edge
from attrs import field, frozen

from contextkit.errors import RecordDamagedError, RecordError, StoreError
from contextkit.models.record import Hit, Record, Search
from contextkit.store.base import MOST_HITS, Match, StoredPoint
from contextkit.store.edge_queries import edge_filter, keyword_vector, plan_search
from contextkit.store.engine_errors import engine_errors
from contextkit.store.field_values import can_answer
from contextkit.store.hybrid import PlannedSearch, QueryVectors, RawHits, join_hits, raw_hits
from contextkit.store.payloads import Damage, point_number, record_digits
from contextkit.store.record_cache import RecordCache
from contextkit.text.keywords import KeywordVector, embed_keywords

_Payload = tuple[int, Mapping[str, Any] | None]

_IDENTITY = ["source", "project", "id"]
_NO_WORDS = KeywordVector([], [])


@frozen
class Page:
    """One page of a scroll through a shard.

    Attributes:
        keys: the points, in the engine's order.
        records: point -> its record; damaged ones are missing.
        next: the start of the next page; None at the end.
    """

    keys: Sequence[int]
    records: dict[int, Record]
    next: Any


@frozen
class StoredVectors:
    """The vectors of one point.

    They are empty if the engine has none.

    Attributes:
        keywords: the sparse one.
        dense: one for each model.
    """

    keywords: KeywordVector
    dense: Sequence[Sequence[float]]


@frozen
class EdgeReader:
    """Reads the records of one store, by their points' numbers.

    Attributes:
        path: the store's folder, for errors.
        damage: the damaged records that were found.
        cache: the records that were read lately.
    """

    path: Path
    damage: Damage = field(factory=Damage)
    cache: RecordCache = field(factory=RecordCache)

    def fetch(
        self, shard: edge.EdgeShard, points: Sequence[int], *, keep: bool = True
    ) -> dict[int, Record]:
        """Return the sound records at these points, in this order; `keep` them in the cache."""
        found = self.cache.known(points)
        missing = [point for point in points if point not in found]
        if missing:
            state = self.cache.state
            read = self.damage.sound(self._payloads(shard, missing))
            if keep:
                self.cache.keep(read, state)
            found |= read
            found = {point: found[point] for point in points if point in found}
        return found

    def get(self, shard: edge.EdgeShard, points: Sequence[int]) -> list[Record]:
        """Return the records at these points, or raise `RecordDamagedError`."""
        found = self.fetch(shard, points)
        if damaged := self.damage.names(points):
            raise RecordDamagedError(damaged)
        return [found[point] for point in points if point in found]

    def page(
        self,
        shard: edge.EdgeShard,
        matches: Sequence[Match] = (),
        few: Sequence[Match] = (),
        *,
        limit: int,
        **request: Any,
    ) -> Page:
        """Return a page of records.

        Args:
            shard: the open shard.
            matches: the conditions that select them.
            few: the conditions, if they are to be checked without the engine.
            limit: the most records of the page.
            request: more of an `edge.ScrollRequest`.
        """
        found = self._points(shard, few)
        if found is not None and len(found) <= limit:
            return Page(found, self.fetch(shard, found), None)
        selected = edge_filter(matches) if found is None else _among(found)
        asked = edge.ScrollRequest(limit=limit, filter=selected, with_payload=False, **request)
        with engine_errors(f"reading the store at {self.path}"):
            points, offset = shard.scroll(asked)
        keys = [_key(point) for point in points]
        # A scan of many pages would drop what consecutive questions read.
        return Page(keys, self.fetch(shard, keys, keep=offset is None), offset)

    def _points(self, shard: edge.EdgeShard, few: Sequence[Match]) -> list[int] | None:
        """Return the points that match, or None where only the engine can tell."""
        if can_answer(few):
            # The engine finds the records that can be read, and the others are reported.
            with contextlib.suppress(StoreError), engine_errors(f"reading {self.path}"):
                return self.cache.values.points(shard, few)
        return None

    def count(self, shard: edge.EdgeShard, matches: Sequence[Match], few: Sequence[Match]) -> int:
        """Count the matching records; `few` are conditions to check without the engine."""
        found = self._points(shard, few)
        if found is not None:
            return len(found)
        with engine_errors(f"reading the store at {self.path}"):
            return shard.count(edge.CountRequest(exact=True, filter=edge_filter(matches)))

    def scopes(self, shard: edge.EdgeShard) -> dict[str, int]:
        """Count the records of every scope."""
        with engine_errors(f"reading the store at {self.path}"):
            found = shard.facet(edge.FacetRequest("scope", MOST_HITS))
            return {str(hit.value): hit.count for hit in found}

    def _payloads(
        self, shard: edge.EdgeShard, point_ids: Sequence[int], keys: list[str] | None = None
    ) -> list[_Payload]:
        """Fetch payloads, bisecting if the engine cannot read all.

        Args:
            shard: the open shard.
            point_ids: the points.
            keys: the payload keys to fetch; default: all.
        """
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(
                    list(point_ids), with_payload=keys or True, with_vector=False
                )
                return [(_key(point), point.payload) for point in points]
        except StoreError:
            if len(point_ids) == 1:
                return [(point_ids[0], None)]
            middle = len(point_ids) // 2
            found = [
                payload
                for half in (point_ids[:middle], point_ids[middle:])
                for payload in self._payloads(shard, half, keys)
            ]
            if all(payload is None for _, payload in found):
                # If no record can be read, the store is the problem.
                raise
            return found

    def refuse_same_numbers(self, shard: edge.EdgeShard, points: Sequence[StoredPoint]) -> None:
        """Raise `RecordError` for a point that has another record's number."""
        wanted: dict[int, StoredPoint] = {}
        for point in points:
            first = wanted.setdefault(point_number(point.id), point)
            _refuse_other(point, first.payload)
        # What cannot be read is damaged, and may be replaced.
        with contextlib.suppress(StoreError):
            for number, payload in self._payloads(shard, list(wanted), _IDENTITY):
                with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
                    if payload is not None and point_number(record_digits(payload)) == number:
                        _refuse_other(wanted[number], payload)

    def search(
        self,
        shard: edge.EdgeShard,
        searches: Sequence[Search],
        vectors: Sequence[QueryVectors],
        names: Sequence[str | None],
        there: Sequence[Collection[str]],
        few: Callable[[str, Sequence[Match]], Sequence[Match]],
    ) -> list[list[Hit]]:
        """Answer several searches with one engine request.

        Args:
            shard: the open shard.
            searches: the searches.
            vectors: each search's vectors.
            names: the name of each search's dense vectors, None if there are none.
            there: the projects where each search's source may have records.
            few: a source and its conditions -> those to check without the engine.
        """

        def select(source: str, matches: Sequence[Match]) -> edge.Filter:
            points = self._points(shard, few(source, matches))
            return edge_filter(matches) if points is None else _among(points)

        planned = [
            plan_search(*each, select) for each in zip(searches, vectors, names, there, strict=True)
        ]
        return join_hits(
            searches,
            vectors,
            self._answer(shard, planned),
            lambda best: self._words(shard, best),
            lambda points: self.fetch(shard, points),
        )

    def _answer(
        self, shard: edge.EdgeShard, planned: Sequence[PlannedSearch[edge.QueryRequest]]
    ) -> list[RawHits[int]]:
        requests = [request for plan in planned for request in plan.requests]
        with engine_errors(f"searching the store at {self.path}"):
            answers = shard.query_batch(edge.QueryBatchRequest(requests)) if requests else []
        return raw_hits(planned, map(_scores, answers))

    def _words(self, shard: edge.EdgeShard, best: Mapping[int, str]) -> dict[int, frozenset[int]]:
        """Return the word ids that points were stored with.

        Args:
            shard: the open shard.
            best: point -> its source.
        """
        if not best:
            return {}
        names = {point: keyword_vector(source) for point, source in best.items()}
        try:
            with engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(
                    list(best), with_payload=False, with_vector=sorted(set(names.values()))
                )
                vectors = {_key(point): cast("dict[str, Any]", point.vector) for point in points}
                return {
                    key: frozenset(vector[names[key]].indices) for key, vector in vectors.items()
                }
        except StoreError:
            records = self.fetch(shard, list(best))
            return {
                key: frozenset(embed_keywords(record.searched_text).indices)
                for key, record in records.items()
            }


def _among(points: Sequence[int]) -> edge.Filter:
    return edge.Filter(must=[edge.HasIdCondition({*points})])


def _refuse_other(point: StoredPoint, other: Mapping[str, Any]) -> None:
    """Raise `RecordError` if a payload belongs to another record."""
    if any(point.payload[key] != other[key] for key in _IDENTITY):
        first, second = (
            f"{each['source']} record {each['id']!r} of '{each['project']}'"
            for each in (point.payload, other)
        )
        raise RecordError(f"{first} has the same number as {second}: give it another id")


def stored_vectors(stored: Any) -> StoredVectors:
    """Tell a point's vectors apart, whatever their names are."""
    vectors = (stored or {}).values()
    sparse = [each for each in vectors if isinstance(each, edge.SparseVector)]
    keywords = KeywordVector(sparse[0].indices, sparse[0].values) if sparse else _NO_WORDS
    return StoredVectors(keywords, [v for v in vectors if not isinstance(v, edge.SparseVector)])


def _scores(points: Sequence[edge.ScoredPoint]) -> dict[int, float]:
    return cast("dict[int, float]", {point.id: point.score for point in points})


def _key(point: edge.ScoredPoint | edge.Record) -> int:
    return cast("int", point.id)
