"""Hybrid search: query vectors, and one relevance from two rankings.

The relevance is a weighted sum of normalised scores, not reciprocal rank fusion: if one ranking
is much weaker than the other, ranks alone lose the information of the stronger one.

- keywords: a hit's BM25 score as a share of the best hit's, times how much of the query
  that best hit covers. The share ranks the hits; the coverage makes searches comparable, so
  that the best of poor hits does not count as a perfect match.
- similarity: the cosine above the level of unrelated texts, rescaled to 0..1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Generic, TypeVar

from attrs import frozen

from contextkit.embedding.choice import Embedders
from contextkit.models.record import Hit, Record, Search
from contextkit.store.identity import StoreIdentity, StorePlace
from contextkit.store.payloads import AnyPoint
from contextkit.text.keywords import KeywordVector, embed_keywords_query, related_to
from contextkit.text.languages.read import in_english, language_of, terms_in
from contextkit.text.spellings import joined_words, other_spellings, with_compounds

_Request = TypeVar("_Request")

KEYWORD_WEIGHT = 0.75
_FULL_COVERAGE_WORDS = 5
_UNRELATED_COSINE = 0.3

MAX_QUERY_CHARACTERS = 8192
"""Only this much of a query is searched."""

_CACHED = 64
"""Queries whose terms are kept: each source asks for the same ones."""

_RELATED_WEIGHT = 0.4
"""Weight of what is related to the query, compared with a word of the query.

These are other words, and the names that neighbouring words spell together: "diff context size"
finds `diffContextSize` before what has the three words apart.
"""


def coverage(
    query_words: frozenset[int], document_words: frozenset[int], beside: float = 0.0
) -> float:
    """How much of a query a document covers, 0..1.

    Five matching words count as full coverage of a longer query, because no document contains
    every word of a prompt of two hundred words.

    Args:
        query_words: the ids of the query's words.
        document_words: the ids of the document's.
        beside: how many words of the document are related to the query's.
    """
    if not query_words:
        return 0.0
    found = len(query_words & document_words) + beside
    return min(1.0, found / min(len(query_words), _FULL_COVERAGE_WORDS))


def fuse(
    keyword_scores: Mapping[AnyPoint, float],
    similarities: Mapping[AnyPoint, float] | None,
    best_coverage: float,
    limit: int,
) -> list[tuple[float, AnyPoint]]:
    """Merge the two rankings: negated relevances, 0..-1, with their points, best first.

    More hits than `limit` are returned if the last ones tie: a point id depends on where the
    project is, and must not decide which of them are found.

    Args:
        keyword_scores: point -> BM25 score.
        similarities: point -> cosine, or None for a search by keywords alone.
        best_coverage: `coverage` of the best keyword hit.
        limit: hits at most, without further ones that tie with the last.
    """
    best = max(keyword_scores.values(), default=0.0)
    scale = best_coverage / best if best > 0 else 0.0
    keyword_weight = 1.0 if similarities is None else KEYWORD_WEIGHT
    # Plain arithmetic, without calls: a batch of searches ranks a thousand points.
    ranks = {point: -keyword_weight * (score * scale) for point, score in keyword_scores.items()}
    for point, cosine in (similarities or {}).items():
        meaning = (cosine - _UNRELATED_COSINE) / (1 - _UNRELATED_COSINE)
        more = (1 - keyword_weight) * meaning if meaning > 0.0 else 0.0
        ranks[point] = ranks.get(point, -0.0) - more
    ranked = sorted(
        [
            (rank if -1.0 <= rank <= 0.0 else max(-1.0, min(-0.0, rank)), point)
            for point, rank in ranks.items()
        ]
    )
    end = limit
    while 0 < end < len(ranked) and ranked[end][0] == ranked[limit - 1][0]:
        end += 1
    return ranked[:end]


@frozen
class QueryVectors:
    """A query's two vectors.

    Attributes:
        keywords: the sparse one, with related words and names.
        words: the ids of the query's own words.
        terms: the ids of each word together with those of its English translations, or of its other
            spelling; empty for a query in English with neither.
        dense: the dense one; None without a model.
        model: the model's name; None if unknown.
    """

    keywords: KeywordVector
    words: frozenset[int]
    terms: tuple[frozenset[int], ...]
    dense: list[float] | None
    model: str | None


@frozen
class PlannedSearch(Generic[_Request]):
    """The engine's requests for one search: by keywords, by meaning."""

    keywords: _Request | None
    dense: _Request | None

    @property
    def requests(self) -> list[_Request]:
        """The requests there are, keywords first."""
        return [request for request in (self.keywords, self.dense) if request is not None]


@frozen
class RawHits(Generic[AnyPoint]):
    """The engine's answer to one search, for each ranking."""

    keyword_scores: Mapping[AnyPoint, float]
    similarities: Mapping[AnyPoint, float] | None


def raw_hits(
    planned: Sequence[PlannedSearch[_Request]], scores: Iterator[Mapping[AnyPoint, float]]
) -> list[RawHits[AnyPoint]]:
    """Assign the scores of each request, in their order, to the planned searches."""
    return [
        RawHits(
            keyword_scores=next(scores) if plan.keywords else {},
            similarities=next(scores) if plan.dense else None,
        )
        for plan in planned
    ]


def embed_queries(searches: Sequence[Search], embedders: Embedders) -> list[QueryVectors]:
    """Embed each search's query.

    Sources with the same model share its vector.
    """
    return [_embed_query(s.source, s.query, embedders, s.related) for s in searches]


def _embed_query(
    source: str, query: str, embedders: Embedders, related: bool = False
) -> QueryVectors:
    embedder = embedders.of(source)
    query = query[:MAX_QUERY_CHARACTERS]
    text = in_english(query)
    dense = embedder.query(text)
    keywords = embed_keywords_query(text)
    words = frozenset(keywords.indices)
    more = _joined(text) | related_to(words) if related else _joined(text)
    return QueryVectors(
        keywords=_with_more(keywords, sorted(more - words)),
        words=words,
        terms=_terms(query),
        dense=dense,
        model=embedder.name,
    )


@lru_cache(_CACHED)
def _joined(text: str) -> frozenset[int]:
    return frozenset(embed_keywords_query(joined_words(text)).indices)


@lru_cache(_CACHED)
def _terms(query: str) -> tuple[frozenset[int], ...]:
    language = language_of(query)
    if language is None:
        return _spelled(query)
    terms = (" ".join((term.text, *term.english)) for term in terms_in(query, language))
    return tuple(frozenset(embed_keywords_query(words).indices) for words in terms)


def _spelled(query: str) -> tuple[frozenset[int], ...]:
    others = other_spellings(query)
    if not others:
        return ()
    both = (" ".join((word, *spelled)) for word, spelled in others.items())
    terms = [frozenset(embed_keywords_query(words).indices) for words in both]
    rest = frozenset(embed_keywords_query(with_compounds(query)).indices).difference(*terms)
    return (*terms, *(frozenset((word,)) for word in rest))


def _with_more(keywords: KeywordVector, more: Sequence[int]) -> KeywordVector:
    return KeywordVector(
        [*keywords.indices, *more], [*keywords.values, *([_RELATED_WEIGHT] * len(more))]
    )


def prepare_queries(searched: Iterable[tuple[str, str]] | None, embedders: Embedders) -> None:
    """Embed the coming queries.

    None: load the models of the enabled sources.
    """
    embed_keywords_query("warm")
    if searched is None:
        for embedder in embedders.in_use():
            embedder.query("warm")
    for source, query in searched or ():
        _embed_query(source, query, embedders)


def vector_names(
    searches: Sequence[Search],
    vectors: Sequence[QueryVectors],
    identity: StoreIdentity,
    place: StorePlace,
) -> list[str | None]:
    """Return the named vector of each search.

    Returns None if the store has none.

    Raises `StoreModelMismatchError` if a source's records have another model's vectors.
    """
    names: list[str | None] = []
    for search, vector in zip(searches, vectors, strict=True):
        name = None
        if vector.model is not None:
            identity.refuse_other(search.source, vector.model, place)
            if vector.dense is not None and not identity.is_incomplete(search.source, vector.model):
                size = len(vector.dense)
                name = identity.vector_of(search.source, vector.model, size, place)
        names.append(name)
    return names


def join_hits(
    searches: Sequence[Search],
    vectors: Sequence[QueryVectors],
    raw: Sequence[RawHits[AnyPoint]],
    words_of: Callable[[Mapping[AnyPoint, str]], Mapping[AnyPoint, frozenset[int]]],
    fetch: Callable[[Sequence[AnyPoint]], Mapping[AnyPoint, Record]],
) -> list[list[Hit]]:
    """Merge the rankings and fetch the remaining records.

    Args:
        searches: the searches.
        vectors: each search's vectors.
        raw: the engine's answer to each search.
        words_of: best point of a search -> that search's source; returns the word ids of the
            existing points.
        fetch: point ids -> the existing records, by point id.
    """
    best = [_best_point(hits.keyword_scores) for hits in raw]
    words = words_of(
        {top: each.source for top, each in zip(best, searches, strict=True) if top is not None}
    )
    fused = [
        fuse(
            hits.keyword_scores,
            hits.similarities,
            _covered(vector, frozenset() if top is None else words.get(top, frozenset())),
            search.limit,
        )
        for search, vector, hits, top in zip(searches, vectors, raw, best, strict=True)
    ]
    records = fetch(sorted({point for ranked in fused for _, point in ranked}))
    return [
        _hits(search, hits, ranked, records)
        for search, hits, ranked in zip(searches, raw, fused, strict=True)
    ]


def _hits(
    search: Search,
    raw: RawHits[AnyPoint],
    ranked: Sequence[tuple[float, AnyPoint]],
    records: Mapping[AnyPoint, Record],
) -> list[Hit]:
    """Build a search's hits, best first.

    The engine selects the records. If that ever went wrong, for example while another thread
    writes the first record of a project, this keeps a project's records from all others.
    """
    scores, cosines = raw.keyword_scores, raw.similarities or {}
    # There may be more hits than the limit if the last ones tie. Then their ids decide.
    best_first = sorted(
        [
            (negated, record.id, record.project, point)
            for negated, point in ranked
            if (record := records.get(point)) is not None
            and record.source == search.source
            and record.project in search.projects
        ]
    )
    return [
        Hit(
            record=records[point],
            relevance=-negated,
            keyword_score=scores.get(point, 0.0),
            similarity=cosines.get(point),
        )
        for negated, _, _, point in best_first[: search.limit]
    ]


def _covered(vector: QueryVectors, found: frozenset[int]) -> float:
    """How much of the query the best hit covers.

    A related word counts in part. A word and its English translations, or its other spelling, count
    as one.
    """
    if vector.terms:
        has = frozenset(place for place, term in enumerate(vector.terms) if term & found)
        return coverage(frozenset(range(len(vector.terms))), has)
    related = frozenset(vector.keywords.indices) - vector.words
    return coverage(vector.words, found, _RELATED_WEIGHT * len(related & found))


def _best_point(scores: Mapping[AnyPoint, float]) -> AnyPoint | None:
    if not scores:
        return None
    best = max(scores.values())
    return min(point for point, score in scores.items() if score == best)
