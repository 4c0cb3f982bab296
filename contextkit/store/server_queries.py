"""Translate records, filters and searches for a Qdrant server.

Only `server` and `server_collection` import this: the client takes a second to load.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, cast

from qdrant_client import models

from contextkit.models.record import Range, Record
from contextkit.store.base import BM25, Match, StoredPoint
from contextkit.store.server_limits import ServerLimits
from contextkit.text.keywords import AnyKeywordVector

WRITE_BATCH = 256
"""Records of one write."""

_WRITE_CHARACTERS = 4_000_000

META_POINT = "8f5b0c1e-6d0e-4f0a-9a53-000000000001"
"""The point that has the store's identity instead of a record."""


def server_point(point: StoredPoint, vector: str | None) -> models.PointStruct:
    """Build the server's point.

    A record without any word has no sparse vector; only filters find it.
    """
    vectors: dict[str, Any] = {}
    if point.keywords.indices:
        vectors[BM25] = sparse_vector(point.keywords)
    if point.dense is not None and vector is not None:
        vectors[vector] = list(point.dense)
    return models.PointStruct(id=point.id, vector=vectors, payload=dict(point.payload))


def write_batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Split records into requests of limited size."""
    batch: list[Record] = []
    characters = 0
    for record in records:
        size = len(record.searched_text)
        if batch and (len(batch) == WRITE_BATCH or characters + size > _WRITE_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(record)
        characters += size
    if batch:
        yield batch


def server_filter(
    matches: Sequence[Match],
    limits: ServerLimits | None = None,
    point_ids: Sequence[str] | None = None,
) -> models.Filter:
    """Require all conditions; without conditions, select every record.

    Args:
        matches: the conditions.
        limits: what strict mode allows.
        point_ids: select among these points only.
    """
    limits = limits or ServerLimits()
    must = [_condition(match, limits) for match in matches]
    if point_ids is not None:
        must.append(models.Filter(should=list(id_conditions(point_ids, limits))))
    return models.Filter(must=must, must_not=[models.HasIdCondition(has_id=[META_POINT])])


def id_conditions(
    point_ids: Sequence[models.ExtendedPointId], limits: ServerLimits
) -> list[models.Condition]:
    """Conditions of which one selects each of these points."""
    return [models.HasIdCondition(has_id=part) for part in _parts(point_ids, limits)]


def _condition(match: Match, limits: ServerLimits) -> models.Condition:
    if match.missing:
        return models.IsEmptyCondition(is_empty=models.PayloadField(key=match.key))
    if match.range is not None:
        return models.FieldCondition(key=match.key, range=_range(match.range))
    alternatives: list[models.Match] = [
        alternative for same in match.by_type for alternative in _any_of(same, limits)
    ]
    if len(alternatives) == 1:
        return models.FieldCondition(key=match.key, match=alternatives[0])
    return models.Filter(
        should=[
            models.FieldCondition(key=match.key, match=alternative)
            for alternative in alternatives or [models.MatchAny(any=[])]
        ]
    )


def _any_of(values: list[str] | list[int] | list[bool], limits: ServerLimits) -> list[models.Match]:
    if isinstance(values[0], bool) or len(values) == 1:
        return [models.MatchValue(value=value) for value in values]
    return [
        models.MatchAny(any=cast("list[str] | list[int]", part)) for part in _parts(values, limits)
    ]


def _parts(values: Sequence[Any], limits: ServerLimits) -> list[list[Any]]:
    """Divide values among conditions; without values there is one, which nothing meets."""
    most = limits.values(max(len(values), 1))
    return [list(values[start : start + most]) for start in range(0, len(values) or 1, most)]


def _range(bounds: Range) -> models.Range | models.DatetimeRange:
    given: dict[str, Any] = {
        name: bound
        for name in ("gte", "gt", "lte", "lt")
        if (bound := getattr(bounds, name)) is not None
    }
    if any(isinstance(bound, datetime) for bound in given.values()):
        return models.DatetimeRange(**given)
    return models.Range(**given)


def sparse_vector(vector: AnyKeywordVector) -> models.SparseVector:
    """The engine's form of a keyword vector."""
    return models.SparseVector(indices=vector.indices, values=vector.values)
