"""Translate records, filters and searches for a Qdrant server.

Only `server` and `server_collection` import this: the client takes a second to load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, cast

from attrs import frozen
from qdrant_client import models

from contextkit.models.record import Range, Search
from contextkit.store.base import (
    BM25,
    Match,
    StoredPoint,
    StoredVectors,
    candidates_for,
    conditions,
)
from contextkit.store.hybrid import QueryVectors
from contextkit.store.identity import StoredModel
from contextkit.text.keywords import KeywordVector

META_POINT = "8f5b0c1e-6d0e-4f0a-9a53-000000000001"
"""The point that has the store's identity instead of a record."""


def server_schema(dense: Iterable[StoredModel]) -> dict[str, Any]:
    """Arguments of `create_collection`, with these models' dense vectors."""
    return {
        "vectors_config": {
            model.vector: models.VectorParams(
                size=model.dimensions, distance=models.Distance.COSINE
            )
            for model in dense
        },
        "sparse_vectors_config": {BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
    }


def server_vector(model: StoredModel) -> models.DenseVectorNameConfig:
    """The configuration that adds a model's vectors to a collection."""
    return models.DenseVectorNameConfig(
        dense=models.DenseVectorConfig(size=model.dimensions, distance=models.Distance.COSINE)
    )


def server_index(key: str) -> models.KeywordIndexParams | models.PayloadSchemaType:
    """The payload index of a key.

    Records of one scope are stored together.
    """
    if key == "created_at":
        return models.PayloadSchemaType.DATETIME
    if key == "scope":
        return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return models.PayloadSchemaType.KEYWORD


def server_point(point: StoredPoint, vector: str | None) -> models.PointStruct:
    """Build the server's point.

    A record without any word has no sparse vector; only filters find it.
    """
    vectors: dict[str, Any] = {}
    if point.keywords.indices:
        vectors[BM25] = _sparse(point.keywords)
    if point.dense is not None and vector is not None:
        vectors[vector] = point.dense
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def stored_vectors(point: models.Record) -> StoredVectors:
    """Read the vectors of the server's point."""
    named = dict(cast("dict[str, Any]", point.vector or {}))
    sparse = named.pop(BM25, None) or models.SparseVector(indices=[], values=[])
    return StoredVectors(KeywordVector(sparse.indices, sparse.values), list(named.values()))


def server_filter(matches: Sequence[Match]) -> models.Filter:
    """Require all conditions; without conditions, select every record."""
    return models.Filter(
        must=[_condition(match) for match in matches],
        must_not=[models.HasIdCondition(has_id=[META_POINT])],
    )


def _condition(match: Match) -> models.Condition:
    if match.missing:
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=match.key))
    if match.range is not None:
        return models.FieldCondition(key=match.key, range=_range(match.range))
    alternatives: list[models.Match] = [
        alternative for same in match.by_type for alternative in _any_of(same)
    ]
    if len(alternatives) == 1:
        return models.FieldCondition(key=match.key, match=alternatives[0])
    return models.Filter(
        should=[
            models.FieldCondition(key=match.key, match=alternative)
            for alternative in alternatives or [models.MatchAny(any=[])]
        ]
    )


def _any_of(values: list[str] | list[int] | list[bool]) -> list[models.Match]:
    if isinstance(values[0], bool) or len(values) == 1:
        return [models.MatchValue(value=value) for value in values]
    return [models.MatchAny(any=cast("list[str] | list[int]", values))]


def _range(bounds: Range) -> models.Range | models.DatetimeRange:
    given: dict[str, Any] = {
        name: bound
        for name in ("gte", "gt", "lte", "lt")
        if (bound := getattr(bounds, name)) is not None
    }
    if any(isinstance(bound, datetime) for bound in given.values()):
        return models.DatetimeRange(**given)
    return models.Range(**given)


@frozen
class PlannedSearch:
    """The server's requests for one search: by keywords, by meaning."""

    keywords: models.QueryRequest | None
    dense: models.QueryRequest | None

    @property
    def requests(self) -> list[models.QueryRequest]:
        """The requests there are, keywords first."""
        return [request for request in (self.keywords, self.dense) if request is not None]


def plan_search(search: Search, query: QueryVectors, vector: str | None) -> PlannedSearch:
    """Plan one search, as `edge_queries.plan_search` does.

    The answer includes payloads: a second round trip would take longer.
    """
    if search.limit < 1:
        return PlannedSearch(None, None)
    selected = server_filter(conditions(search.source, search.projects, search.filters))
    by_keywords = by_meaning = None
    if query.keywords.indices:
        by_keywords = models.QueryRequest(
            query=_sparse(query.keywords),
            using=BM25,
            filter=selected,
            limit=candidates_for(search.limit),
            params=_corpus(search),
            with_payload=True,
        )
    if query.dense is not None and vector is not None:
        by_meaning = models.QueryRequest(
            query=query.dense,
            using=vector,
            filter=selected,
            limit=candidates_for(search.limit),
            with_payload=True,
        )
    return PlannedSearch(by_keywords, by_meaning)


def _corpus(search: Search) -> models.SearchParams | None:
    """Count word frequencies per source, if possible."""
    if not hasattr(models, "IdfCorpusParams"):
        return None
    corpus = server_filter(conditions(search.source, search.projects, {}))
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))


def _sparse(vector: KeywordVector) -> models.SparseVector:
    return models.SparseVector(indices=vector.indices, values=vector.values)
