"""What every record store does, and the schema that all of them share.

One collection; a record is a point. Its payload is `source`, `project`, `id`, `text`,
`keywords`, `created_at` (RFC 3339) and the source's own `fields`; its vectors are `bm25`
(sparse, with the engine's inverse document frequency) and, where its source wants it,
`dense`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from attrs import frozen

from contextkit.embedding import Embedder, KeywordVector, embed_keywords
from contextkit.errors import RecordError
from contextkit.records import Filters, Hit, Range, Record, Search

__all__ = [
    "BM25",
    "DENSE",
    "KEYWORD_MODEL",
    "SCHEMA_VERSION",
    "Match",
    "RecordStore",
    "StoreIdentity",
    "StoredPoint",
    "candidates_for",
    "conditions",
    "record_from_payload",
    "stored_points",
]

SCHEMA_VERSION = 1
KEYWORD_MODEL = "bm25-english-code-1"
DENSE = "dense"
BM25 = "bm25"


@frozen
class StoreIdentity:
    """What a store remembers of itself.

    Attributes:
        id: unique; index states belong to it.
        model: the embedder that made its dense vectors.
    """

    id: str
    model: str


@frozen
class Match:
    """One condition on a payload key: any of these values, or within this range."""

    key: str
    values: tuple[str | int | bool, ...] = ()
    range: Range | None = None


@frozen
class StoredPoint:
    """A record as both engines take it."""

    id: str
    payload: Mapping[str, Any]
    keywords: KeywordVector
    dense: list[float] | None


class RecordStore(Protocol):
    """A store of records; every method blocks and may be called from any thread."""

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and model; opens the store."""

    @property
    def problem(self) -> str | None:
        """What makes its searches worse than they should be, in words, or None."""

    def put(self, records: Sequence[Record], *, dense: bool = True) -> None:
        """Store records, replacing those with the same point id; durable on return.

        Raises `StoreFullError` where the disk has no room, before anything is stored.
        """

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points; ids that are not there are passed over."""

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """The records at these points, in this order; missing ones are left out."""

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several questions in one round trip, each best first."""

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Every record that matches, page by page; None means any source, any project."""

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """The records that match, newest first."""

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """How many records match."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep the store for several operations, where it is shared by turns."""

    def prepare(self) -> None:
        """Do now what the first search would wait for: open, load the model."""

    def close(self) -> None:
        """Let go of everything; a closed store opens again when it is used."""


def conditions(source: str | None, projects: Sequence[str] | None, filters: Filters) -> list[Match]:
    """The conditions that select a source's records in some projects under some filters.

    Raises `RecordError` for a filter value that no store can compare.
    """
    selected = [] if source is None else [Match("source", (source,))]
    if projects is not None:
        selected.append(Match("project", tuple(projects)))
    return selected + [_condition(key, wanted) for key, wanted in sorted(filters.items())]


def _condition(name: str, wanted: object) -> Match:
    key = "created_at" if name == "created_at" else f"fields.{name}"
    match wanted:
        case Range():
            return Match(key, range=wanted)
        case bool() | int() | str():
            return Match(key, (wanted,))
        case list() | tuple() | set() | frozenset() if wanted:
            if all(isinstance(value, (str, int)) for value in wanted):
                return Match(key, tuple(wanted))
    raise RecordError(
        f"filter {name}: expected a string, an integer, a non-empty list of those, or a Range, "
        f"got {wanted!r}"
    )


def stored_points(
    records: Sequence[Record], embedder: Embedder, *, dense: bool
) -> list[StoredPoint]:
    """Records with the vectors and the payload that both engines store."""
    texts = [record.searched_text for record in records]
    vectors = embedder.dense(texts) if dense else None
    return [
        StoredPoint(
            id=record.point_id,
            payload=_payload(record),
            keywords=embed_keywords(text),
            dense=None if vectors is None or not vectors[row].any() else vectors[row].tolist(),
        )
        for row, (record, text) in enumerate(zip(records, texts, strict=True))
    ]


def _payload(record: Record) -> dict[str, Any]:
    return {
        "source": record.source,
        "project": record.project,
        "id": record.id,
        "text": record.text,
        "keywords": record.keywords,
        "created_at": record.created_at.isoformat(),
        "fields": dict(record.fields),
    }


def record_from_payload(payload: Mapping[str, Any]) -> Record:
    """The record that a payload was made from."""
    return Record(
        id=payload["id"],
        text=payload["text"],
        fields=payload["fields"],
        keywords=payload["keywords"],
        created_at=datetime.fromisoformat(payload["created_at"]),
        source=payload["source"],
        project=payload["project"],
    )


def candidates_for(limit: int) -> int:
    """How many hits to ask each side of a hybrid search for, so that `limit` remain."""
    return max(2 * limit, 20)
