"""What every engine's hybrid search has in common: the query's vectors, the joining of hits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from attrs import frozen

from contextkit.embedding import Embedder, KeywordVector, embed_keywords, embed_keywords_query
from contextkit.records import Hit, Record, Search
from contextkit.store.fusion import Fused, coverage, fuse

__all__ = ["MAX_QUERY_CHARACTERS", "QueryVectors", "RawHits", "embed_queries", "join_hits"]

MAX_QUERY_CHARACTERS = 8192
"""A longer query is searched by its first part."""

_CACHED_QUERIES = 1024


@frozen
class QueryVectors:
    """A query's two vectors; `dense` is None where there is no model."""

    keywords: KeywordVector
    dense: list[float] | None


@frozen
class RawHits:
    """What the engine answered to one search: point -> score, each side by itself."""

    keyword_scores: Mapping[str, float]
    similarities: Mapping[str, float] | None


@lru_cache(maxsize=_CACHED_QUERIES)
def _embed_query(query: str, embedder: Embedder) -> QueryVectors:
    dense = embedder.dense([query])
    return QueryVectors(
        keywords=embed_keywords_query(query),
        dense=None if dense is None or not dense[0].any() else dense[0].tolist(),
    )


def embed_queries(searches: Sequence[Search], embedder: Embedder) -> list[QueryVectors]:
    """Each search's vectors; a query that several sources share is embedded once."""
    return [_embed_query(search.query[:MAX_QUERY_CHARACTERS], embedder) for search in searches]


def join_hits(
    searches: Sequence[Search],
    vectors: Sequence[QueryVectors],
    raw: Sequence[RawHits],
    fetch: Callable[[Sequence[str]], Mapping[str, Record]],
) -> list[list[Hit]]:
    """Fuse each search's two rankings, and fetch the records that remain, all at once.

    Args:
        searches: what was asked.
        vectors: each search's vectors.
        raw: what the engine answered to each.
        fetch: point ids -> the records that are there, by point id.
    """
    best = [_best_point(hits.keyword_scores) for hits in raw]
    words = {
        point: frozenset(embed_keywords(record.searched_text).indices)
        for point, record in fetch(sorted({point for point in best if point is not None})).items()
    }
    fused = [
        fuse(
            hits.keyword_scores,
            hits.similarities,
            coverage(frozenset(vector.keywords.indices), words.get(top or "", frozenset())),
            search.limit,
        )
        for search, vector, hits, top in zip(searches, vectors, raw, best, strict=True)
    ]
    records = fetch(sorted({hit.point_id for hits in fused for hit in hits}))
    return [
        [_hit(hit, records[hit.point_id]) for hit in hits if hit.point_id in records]
        for hits in fused
    ]


def _best_point(scores: Mapping[str, float]) -> str | None:
    return min(scores, key=lambda point: (-scores[point], point)) if scores else None


def _hit(fused: Fused, record: Record) -> Hit:
    return Hit(
        record=record,
        relevance=fused.relevance,
        keyword_score=fused.keyword_score,
        similarity=fused.similarity,
    )
