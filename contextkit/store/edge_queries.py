"""Records, filters and searches in the words of Qdrant Edge.

Which record fields an embedded store indexes: those of sources with many records.

An index makes a filter quick and every opening slow: each takes some five milliseconds to open
and close, with records or without, while looking at the records themselves takes five
microseconds for each of its source's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import qdrant_edge as edge
from attrs import define, field, frozen

from contextkit.models.record import Range, Search
from contextkit.store.base import BM25, Match, StoredBatch, StoredPoint, candidates_for, conditions
from contextkit.store.hybrid import QueryVectors
from contextkit.store.identity import StoredModel
from contextkit.text.keywords import KeywordVector

_Mapped = edge.KeywordIndexParams | edge.DatetimeIndexParams

STORE_INDEXES: Mapping[str, _Mapped] = {
    "scope": edge.KeywordIndexParams(memory=edge.Memory.Cached),
    "created_at": edge.DatetimeIndexParams(memory=edge.Memory.Cached),
}
"""Payload key -> index, in every shard.

Where the shard is in order (`EmbeddedStore.optimize`) they are files that are mapped: building
them in memory is half of what opening it takes, and a search is no quicker for it. `Cached` reads
them from end to end first; `Cold` has the first search wait for each page of the disk.
"""

_ORDERED_FROM_KB = 500
"""Vectors of so much room make it worth to put a shard in order: it opens in half the time."""


def shard_config() -> edge.EdgeConfig:
    """The schema of a new shard: sparse vectors; dense ones come with their models.

    There is no graph over dense vectors: to compare all of a source's is exact, and fast
    enough for what one machine has, while a graph takes a minute for 100,000 vectors, in
    which nobody else could use the store.
    """
    return edge.EdgeConfig(
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
        vectors={},
        sparse_vectors={BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_ORDERED_FROM_KB),
    )


def model_vector(model: StoredModel) -> edge.UpdateOperation:
    """The operation that gives a shard a model's vectors; done twice, it does nothing more.

    A number takes one byte. All of a source's vectors are compared with a query's, and that
    takes a third of the time so; the cosine is then off by some thousandths at most.
    """
    return edge.UpdateOperation.create_dense_vector(
        model.vector,
        model.dimensions,
        edge.Distance.Cosine,
        datatype=edge.VectorStorageDatatype.Turbo8,
    )


def field_key(name: str) -> str:
    """The payload key of a record's field."""
    return f"fields.{name}"


def index_of(key: str) -> _Mapped:
    """The index of a payload key."""
    return STORE_INDEXES.get(key, edge.KeywordIndexParams(memory=edge.Memory.Cached))


def edge_point(point: StoredPoint, vector: str | None) -> edge.Point:
    """A point, its dense vector under that name.

    One without a single word has no vector and is found by filters alone.
    """
    vectors: dict[str, Any] = {}
    if point.keywords.indices:
        vectors[BM25] = _sparse(point.keywords)
    if point.dense is not None and vector is not None:
        vectors[vector] = point.dense
    return edge.Point(point.id, vectors, dict(point.payload))


def edge_filter(matches: Sequence[Match]) -> edge.Filter:
    """All conditions at once; none selects everything."""
    return edge.Filter(must=[_condition(match) for match in matches])


def _condition(match: Match) -> edge.FieldCondition | edge.Filter:
    if match.range is not None:
        return edge.FieldCondition(match.key, range=_range(match.range))
    if not match.values:
        return edge.FieldCondition(match.key, match=edge.MatchAny([]))
    alternatives: list[Any] = [
        edge.FieldCondition(match.key, match=alternative)
        for same in match.by_type
        for alternative in _any_of(same)
    ]
    return alternatives[0] if len(alternatives) == 1 else edge.Filter(should=alternatives)


def _any_of(
    values: list[str] | list[int] | list[bool],
) -> list[edge.MatchAny] | list[edge.MatchValue]:
    if isinstance(values[0], bool):
        # The engine's binding takes Python's own booleans for the integers 0 and 1.
        from numpy import bool_

        return [edge.MatchValue(cast("bool", bool_(value))) for value in values]
    if len(values) == 1:
        return [edge.MatchValue(values[0])]
    return [edge.MatchAny(cast("list[str]", values))]


def _range(bounds: Range) -> edge.RangeFloat | edge.RangeDateTime:
    given = {
        name: bound
        for name in ("gte", "gt", "lte", "lt")
        if (bound := getattr(bounds, name)) is not None
    }
    if any(isinstance(bound, datetime) for bound in given.values()):
        return edge.RangeDateTime(**{name: bound.isoformat() for name, bound in given.items()})
    return edge.RangeFloat(**given)


@frozen
class PlannedSearch:
    """One search as the engine's requests: by keywords, by meaning, either or none."""

    keywords: edge.QueryRequest | None
    dense: edge.QueryRequest | None

    @property
    def requests(self) -> list[edge.QueryRequest]:
        """The requests there are, keywords first."""
        return [request for request in (self.keywords, self.dense) if request is not None]


def plan_search(search: Search, query: QueryVectors, vector: str | None) -> PlannedSearch:
    """The engine's requests for one search, among the dense vectors of that name.

    The inverse document frequency is that of the source's own records in these projects:
    what is a rare word among memories may be in every line of code.
    """
    if search.limit < 1 or not search.projects:
        return PlannedSearch(None, None)
    corpus = selected = edge_filter(conditions(search.source, search.projects, {}))
    if search.filters:
        selected = edge_filter(conditions(search.source, search.projects, search.filters))
    limit = candidates_for(search.limit)
    by_keywords = by_meaning = None
    if query.keywords.indices:
        by_keywords = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(_sparse(query.keywords), using=BM25),
            filter=selected,
            params=edge.SearchParams(idf=edge.IdfParams(corpus=corpus)),
            with_payload=False,
        )
    if query.dense is not None and vector is not None:
        by_meaning = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(query.dense, using=vector),
            filter=selected,
            with_payload=False,
        )
    return PlannedSearch(by_keywords, by_meaning)


def _sparse(vector: KeywordVector) -> edge.SparseVector:
    return edge.SparseVector(indices=vector.indices, values=vector.values)


WORTH_AN_INDEX = 1_000
"""A source with fewer records is filtered without an index of its own."""


@define(eq=False)
class FieldIndexes:
    """What is known of an open shard's indexes of record fields.

    Attributes:
        declared: source -> the fields that its filters use.
    """

    declared: Mapping[str, Sequence[str]]
    _made: set[str] = field(factory=set, init=False)
    _records: Counter[str] = field(factory=Counter, init=False)

    def begin(self, made: Iterable[str], scopes: Mapping[str, int]) -> None:
        """Start anew with a shard that was opened.

        Args:
            made: the payload keys that it has an index of.
            scopes: scope -> records in it.
        """
        self._made = set(made)
        self._records = _by_source(scopes)

    def missing(self, batch: StoredBatch, scopes: Callable[[], Mapping[str, int]]) -> set[str]:
        """The payload keys to index before a batch is stored.

        Only fields that the batch has are: an index of nothing takes as long to open.

        Args:
            batch: records of one source.
            scopes: counts the records of each scope.
        """
        self._records[batch.source] += len(batch.points)
        if self._records[batch.source] < WORTH_AN_INDEX:
            return set()
        wanted = self._wanted(batch)
        if not wanted:
            return wanted
        # What was written over was counted twice.
        self._records = _by_source(scopes())
        self._records[batch.source] += len(batch.points)
        return wanted if self._records[batch.source] >= WORTH_AN_INDEX else set()

    def made(self, keys: Iterable[str]) -> None:
        """Take note of indexes that were made."""
        self._made.update(keys)

    def _wanted(self, batch: StoredBatch) -> set[str]:
        keys = set(map(field_key, self.declared.get(batch.source, ()))) - self._made
        if not keys:
            return keys
        present = {field_key(name) for point in batch.points for name in point.payload["fields"]}
        return {key for key in keys if key in present or _parent(key) in present}


def _by_source(scopes: Mapping[str, int]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for scope, records in scopes.items():
        counted[scope.partition("/")[0]] += records
    return counted


def _parent(key: str) -> str:
    """The outermost field that a nested one is in."""
    return ".".join(key.split(".")[:2])
