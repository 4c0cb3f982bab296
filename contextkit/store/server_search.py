"""Plan the searches of a Qdrant server, and join their answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from qdrant_client import models

from contextkit.models.record import Hit, Record, Search
from contextkit.store.base import BM25, candidates_for, conditions
from contextkit.store.hybrid import PlannedSearch, QueryVectors, join_hits, raw_hits
from contextkit.store.server_queries import server_filter, sparse_vector
from contextkit.text.keywords import embed_keywords


def plan_search(
    search: Search, query: QueryVectors, vector: str | None, selected: models.Filter, most: int
) -> PlannedSearch[models.QueryRequest]:
    """Plan one search, as `edge_queries.plan_search` does.

    The answer includes payloads: a second round trip would take longer.

    Args:
        search: the search.
        query: its vectors.
        vector: the name of the dense vectors, if there are any.
        selected: the records to search.
        most: results of one request.
    """
    if search.limit < 1:
        return PlannedSearch(None, None)
    by_keywords = by_meaning = None
    limit = min(candidates_for(search.limit), most)
    if query.keywords.indices:
        by_keywords = models.QueryRequest(
            query=sparse_vector(query.keywords),
            using=BM25,
            filter=selected,
            limit=limit,
            params=_corpus(search),
            with_payload=True,
        )
    if query.dense is not None and vector is not None:
        by_meaning = models.QueryRequest(
            query=query.dense,
            using=vector,
            filter=selected,
            limit=limit,
            with_payload=True,
        )
    return PlannedSearch(by_keywords, by_meaning)


def _corpus(search: Search) -> models.SearchParams | None:
    """Count word frequencies per source, if the client can; an old server ignores it."""
    if not hasattr(models, "IdfCorpusParams"):
        return None
    corpus = server_filter(conditions(search.source, search.projects, {}))
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))


def found_hits(
    searches: Sequence[Search],
    vectors: Sequence[QueryVectors],
    planned: Sequence[PlannedSearch[models.QueryRequest]],
    answers: Sequence[Sequence[models.ScoredPoint]],
    records: Mapping[str, Record],
) -> list[list[Hit]]:
    """Join the answers by keywords and by meaning, for each search.

    Args:
        searches: the searches.
        vectors: their vectors.
        planned: what the server searched for each.
        answers: its answers, in the order of the requests.
        records: point id -> sound record, of all answers.
    """

    def fetch(point_ids: Sequence[str]) -> dict[str, Record]:
        return {point: records[point] for point in point_ids if point in records}

    def words_of(point_ids: Iterable[str]) -> dict[str, frozenset[int]]:
        return {
            point: frozenset(embed_keywords(record.searched_text).indices)
            for point, record in fetch(list(point_ids)).items()
        }

    return join_hits(searches, vectors, raw_hits(planned, map(_scores, answers)), words_of, fetch)


def _scores(points: Sequence[models.ScoredPoint]) -> dict[str, float]:
    return {str(point.id): point.score for point in points}
