"""Payload indexes of a Qdrant collection, made when a filter first needs them.

A key has one index at most. Its type follows from the filters: texts need `keyword`, whole numbers
`integer`, ranges of numbers `float`, ranges of times `datetime`, and conditions on a missing value
take any type. If sources filter the same key by values of several types, the type that comes last
in `_TYPES` stays, so that two sources never replace each other's index in turn.

In strict mode a server refuses a filter that has no index. A condition that can have none, because
the collection has as many indexes as it may or its key has one of another type, is then checked
here: the store reads the records that meet the other conditions, and names the matching ones to the
server. That is slow, but the results are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import grpc
from attrs import define, field, frozen
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from contextkit.logs import get_logger
from contextkit.models.record import Filters, Range
from contextkit.store.base import Match, conditions
from contextkit.store.server_limits import ServerLimits

SCOPE = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
"""The index of `scope`: records of one source and project are stored together."""

BASE_INDEXES: Mapping[str, models.KeywordIndexParams | models.PayloadSchemaType] = {
    "scope": SCOPE,
    "source": models.PayloadSchemaType.KEYWORD,
    "project": models.PayloadSchemaType.KEYWORD,
    "created_at": models.PayloadSchemaType.DATETIME,
}
"""Payload key -> index, in every collection."""

_EXACT_FLOATS = 2**53
_TYPES = ("bool", "integer", "float", "datetime", "keyword")

_log = get_logger(__name__)


@frozen
class Selection:
    """How to select records.

    Attributes:
        matches: conditions for the server.
        here: filters that the server would refuse, to check here.
    """

    matches: Sequence[Match]
    here: Filters


@define(eq=False)
class ServerIndexes:
    """The indexes of an open collection.

    Attributes:
        collection: the collection's name.
        types: payload key -> type of its index.
        limits: what strict mode allows.
        declared: source -> the record fields that its filters use.
    """

    collection: str
    types: dict[str, str]
    limits: ServerLimits
    declared: Mapping[str, Sequence[str]]
    _refused: set[tuple[str, str]] = field(factory=set, init=False)

    def select(
        self,
        client: QdrantClient,
        source: str | None,
        projects: Sequence[str] | None,
        filters: Filters,
    ) -> Selection:
        """Make the indexes that the filters need, and divide the filters."""
        matches = conditions(source, projects, {})
        here: dict[str, Any] = {}
        for name, wanted in filters.items():
            [match] = conditions(None, None, {name: wanted})
            match = self._as_numbers(match)
            if self._indexed(client, source, name, match) or not self.limits.all_indexed:
                matches.append(match)
            else:
                here[name] = wanted
        return Selection(matches, here)

    def _as_numbers(self, match: Match) -> Match:
        """Write one whole number as a range, which an index of floats can find."""
        number = match.values[0] if len(match.values) == 1 else None
        if type(number) is not int or self.types.get(match.key) != "float":
            return match
        # Beyond, floats do not tell whole numbers apart.
        is_exact = abs(number) < _EXACT_FLOATS
        return Match(match.key, range=Range(gte=number, lte=number)) if is_exact else match

    def _indexed(self, client: QdrantClient, source: str | None, name: str, match: Match) -> bool:
        """Whether the server has an index for a condition, after making it if possible."""
        wanted, present = _needed(match), self.types.get(match.key)
        if wanted is None:
            return False
        if present is not None and (match.missing or present == wanted):
            return True
        if present in _TYPES and _TYPES.index(present) > _TYPES.index(wanted):
            return False
        declared = source is not None and name in self.declared.get(source, ())
        return (declared or self.limits.all_indexed) and self._make(client, match.key, wanted)

    def _make(self, client: QdrantClient, key: str, wanted: str) -> bool:
        full = key not in self.types and len(self.types) >= self.limits.indexes
        if full or (key, wanted) in self._refused:
            return False
        try:
            client.create_payload_index(
                self.collection, key, models.PayloadSchemaType(wanted), wait=True
            )
        except (UnexpectedResponse, grpc.RpcError) as error:
            # The API key may only read, or another process made the last index that is allowed.
            _log.warning(
                "index_not_made", key=key, type=wanted, reason=" ".join(str(error).split())
            )
            self._refused.add((key, wanted))
            return False
        self.types[key] = wanted
        return True


def _needed(match: Match) -> str | None:
    """The type of index that a condition needs; None if no index serves it."""
    if match.missing:
        return "bool"
    if match.range is not None:
        given = (match.range.gte, match.range.gt, match.range.lte, match.range.lt)
        return "datetime" if any(isinstance(bound, datetime) for bound in given) else "float"
    types = {type(value) for value in match.values}
    if len(types) > 1:
        return None
    return {str: "keyword", bool: "bool", int: "integer"}[types.pop()]
