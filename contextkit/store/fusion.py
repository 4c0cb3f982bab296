"""One relevance from the two rankings of a hybrid search.

A weighted sum of normalised scores, not reciprocal rank fusion: where one side is much
weaker than the other, ranks alone throw away what the stronger side knows.

- keywords: a hit's BM25 score as a share of the best hit's, times how much of the query
  that best hit covers. The first part ranks; the second makes searches comparable, so
  that the best of a bad lot does not count as a perfect match.
- similarity: the cosine, with what unrelated texts have in common taken off.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["Fused", "coverage", "fuse"]

KEYWORD_WEIGHT = 0.75
_FULL_COVERAGE_WORDS = 5
_UNRELATED_COSINE = 0.3


@frozen
class Fused:
    """One hit of a hybrid search.

    Attributes:
        point_id: the hit's point.
        relevance: 0..1.
        keyword_score: raw BM25 score, 0 where the keywords did not find it.
        similarity: the cosine, None where it was not among the dense hits.
    """

    point_id: str
    relevance: float
    keyword_score: float
    similarity: float | None


def coverage(
    query_words: frozenset[int], document_words: frozenset[int], beside: float = 0.0
) -> float:
    """How much of a query a document covers, 0..1.

    Five words found count as the whole of a longer query: a prompt of two hundred words
    is never covered in full.

    Args:
        query_words: the ids of the query's words.
        document_words: the ids of the document's.
        beside: how many words related to the query's the document has.
    """
    if not query_words:
        return 0.0
    found = len(query_words & document_words) + beside
    return min(1.0, found / min(len(query_words), _FULL_COVERAGE_WORDS))


def fuse(
    keyword_scores: Mapping[str, float],
    similarities: Mapping[str, float] | None,
    best_coverage: float,
    limit: int,
) -> list[Fused]:
    """Join the two rankings, best first; ties go by point id, so that order is stable.

    Args:
        keyword_scores: point -> BM25 score.
        similarities: point -> cosine, or None for a search by keywords alone.
        best_coverage: `coverage` of the best keyword hit.
        limit: hits at most.
    """
    best = max(keyword_scores.values(), default=0.0)
    scale = best_coverage / best if best > 0 else 0.0
    keyword_weight = 1.0 if similarities is None else KEYWORD_WEIGHT
    cosines = similarities or {}
    # Made into hits are only those that remain: a batch of searches has hundreds.
    ranked = sorted(
        (
            -_relevance(
                keyword_scores.get(point_id, 0.0) * scale, cosines.get(point_id), keyword_weight
            ),
            point_id,
        )
        for point_id in keyword_scores.keys() | cosines.keys()
    )
    return [
        Fused(
            point_id,
            relevance=-negated,
            keyword_score=keyword_scores.get(point_id, 0.0),
            similarity=cosines.get(point_id),
        )
        for negated, point_id in ranked[:limit]
    ]


def _relevance(keywords: float, cosine: float | None, keyword_weight: float) -> float:
    meaning = 0.0 if cosine is None else (cosine - _UNRELATED_COSINE) / (1 - _UNRELATED_COSINE)
    total = keyword_weight * keywords + (1 - keyword_weight) * max(0.0, meaning)
    return min(1.0, max(0.0, total))
