"""Translate records, filters and searches for Qdrant Edge.

It also decides which record fields an embedded store indexes: those of sources with many
records. An index speeds up a filter and slows down every opening: each index takes about five
milliseconds to open and close, whatever its size, while checking the records themselves takes
five microseconds per record of the source.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

import qdrant_edge as edge
from attrs import define, field

from contextkit.models.record import Range, Search
from contextkit.store.base import BM25, Match, StoredBatch, StoredPoint, candidates_for, conditions
from contextkit.store.hybrid import PlannedSearch, QueryVectors
from contextkit.store.identity import StoredModel, vector_name
from contextkit.store.payloads import point_number
from contextkit.text.keywords import AnyKeywordVector

_Mapped = edge.KeywordIndexParams | edge.DatetimeIndexParams

STORE_INDEXES: Mapping[str, _Mapped] = {
    "scope": edge.KeywordIndexParams(is_tenant=True, memory=edge.Memory.Cached),
    "created_at": edge.DatetimeIndexParams(memory=edge.Memory.Cached),
}
"""Payload key -> index, in every shard.

In an optimized shard (`EmbeddedStore.optimize`) they are mapped files: building them in memory
takes half of the opening time and makes no search quicker. `Cached` reads them from end to end
first; with `Cold` the first search waits for each page of the disk. With `is_tenant`, an optimized
shard has the vectors of a source beside each other: comparing all of them takes three quarters of
the time at 100,000 records.
"""

_COMPARED_AGAIN = edge.SearchParams(
    quantization=edge.QuantizationSearchParams(rescore=True, oversampling=6)
)
"""How an optimized shard compares a query with its vectors.

It compares two bits of each number, and then the whole numbers of the best. With six times as many
as are wanted, it finds as many of the nearest 40 as by comparing all of them in full.
"""

WORTH_AN_INDEX = 1_000
"""A source with fewer records is filtered without an index."""


def model_vector(model: StoredModel) -> edge.UpdateOperation:
    """The operation that adds a model's vectors to a shard.

    It is idempotent.

    Each number is stored in one byte. A query is compared with all of a source's vectors, which
    takes a third of the time this way; the cosine is then off by at most a few thousandths.
    """
    return edge.UpdateOperation.create_dense_vector(
        model.vector,
        model.dimensions,
        edge.Distance.Cosine,
        datatype=edge.VectorStorageDatatype.Turbo8,
    )


@functools.cache
def keyword_vector(source: str) -> str:
    """The engine's name of a source's keyword vectors.

    With a vector for each source, a search reads only the words of that source, and the engine
    counts how rare a word is among them without looking at each record.
    """
    return f"{BM25}-{vector_name(source, source)}"


def new_keyword_vector(source: str) -> edge.UpdateOperation:
    """The operation that adds a source's keyword vectors to a shard.

    It is idempotent.
    """
    return edge.UpdateOperation.create_sparse_vector(
        keyword_vector(source), modifier=edge.Modifier.Idf
    )


def field_key(name: str) -> str:
    """The payload key of a record's field."""
    return f"fields.{name}"


def index_of(key: str) -> _Mapped:
    """The index of a payload key."""
    return STORE_INDEXES.get(key, edge.KeywordIndexParams(memory=edge.Memory.Cached))


def edge_point(point: StoredPoint, source: str, vector: str | None) -> edge.Point:
    """Build the engine's point of a source's record.

    A record without any word has no sparse vector; only filters find it.
    """
    vectors: dict[str, Any] = {}
    if point.keywords.indices:
        vectors[keyword_vector(source)] = _sparse(point.keywords)
    if point.dense is not None and vector is not None:
        vectors[vector] = point.dense
    return edge.Point(point_number(point.id), vectors, dict(point.payload))


def edge_filter(matches: Sequence[Match]) -> edge.Filter:
    """Require all conditions; without conditions, select everything."""
    return edge.Filter(must=[_condition(match) for match in matches])


def _condition(match: Match) -> edge.FieldCondition | edge.IsEmptyCondition | edge.Filter:
    if match.missing:
        return edge.IsEmptyCondition(match.key)
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
        # The engine's binding reads Python's own booleans as the integers 0 and 1.
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


def plan_search(
    search: Search,
    query: QueryVectors,
    vector: str | None,
    there: Collection[str],
    select: Callable[[str, Sequence[Match]], edge.Filter],
) -> PlannedSearch[edge.QueryRequest]:
    """Plan one search, using the dense vectors of this name.

    The inverse document frequency is computed from the source's own records in these projects:
    a rare word among memories may be in every line of code.

    Args:
        search: the search.
        query: its vectors.
        vector: the name of the dense vectors; None if there are none.
        there: all projects where the source may have records. Most sources have none of the
            user's own, and one condition fewer makes a search a third faster. If all projects
            are searched, keywords need no filter, which would take most of the engine's time.
        select: makes the filter of the source's conditions.
    """
    projects = [project for project in search.projects if project in there]
    if search.limit < 1 or not projects:
        return PlannedSearch(None, None)
    corpus = selected = edge_filter(conditions(search.source, projects, {}))
    if search.filters:
        selected = select(search.source, conditions(search.source, projects, search.filters))
    every_project = len(there) == len(set(projects))
    limit = candidates_for(search.limit)
    idf = None if every_project else edge.SearchParams(idf=edge.IdfParams(corpus=corpus))
    by_keywords = by_meaning = None
    if query.keywords.indices:
        by_keywords = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(_sparse(query.keywords), using=keyword_vector(search.source)),
            filter=None if every_project and not search.filters else selected,
            params=idf,
            with_payload=False,
        )
    if query.dense is not None and vector is not None:
        by_meaning = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(query.dense, using=vector),
            filter=selected,
            params=_COMPARED_AGAIN,
            with_payload=False,
        )
    return PlannedSearch(by_keywords, by_meaning)


def _sparse(vector: AnyKeywordVector) -> edge.SparseVector:
    if isinstance(vector, edge.SparseVector):
        return vector
    return edge.SparseVector(indices=vector.indices, values=vector.values)


@define(eq=False)
class FieldIndexes:
    """Track which record fields an open shard has indexed.

    Attributes:
        declared: source -> the fields that its filters use.
    """

    declared: Mapping[str, Sequence[str]]
    _made: set[str] = field(factory=set, init=False)
    _records: Counter[str] = field(factory=Counter, init=False)

    def begin(self, made: Iterable[str], scopes: Mapping[str, int]) -> None:
        """Start over with a newly opened shard.

        Args:
            made: the payload keys that are indexed.
            scopes: scope -> records in it.
        """
        self._made = set(made)
        self._records = _by_source(scopes)

    def missing(self, batch: StoredBatch, scopes: Callable[[], Mapping[str, int]]) -> set[str]:
        """Return the payload keys to index before a write.

        Only fields in the batch count: an empty index takes as long to open as a full one.

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
        # Overwritten records were counted twice.
        self._records = _by_source(scopes())
        self._records[batch.source] += len(batch.points)
        return wanted if self._records[batch.source] >= WORTH_AN_INDEX else set()

    def among_few(self, source: str | None, matches: Sequence[Match]) -> Sequence[Match]:
        """Return the conditions if none has an index, and the source has few records."""
        is_few = source is not None and self._records[source] < WORTH_AN_INDEX
        return matches if is_few and self._made.isdisjoint(each.key for each in matches[1:]) else ()

    def made(self, keys: Iterable[str]) -> None:
        """Record that these indexes were made."""
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
    """The outermost field of a nested one."""
    return ".".join(key.split(".")[:2])
