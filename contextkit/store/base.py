"""What every record store does, and the schema that all of them share.

One collection; a record is a point. Its payload is `source`, `project`, `id`, `text`,
`keywords`, `created_at` (RFC 3339) and the source's own `fields`; its vectors are `bm25`
(sparse, with the engine's inverse document frequency) and, where its source has a model,
a dense one under that model's name. `scope` is source and project in one, so that a search
has one condition to meet instead of two. Where `fields` has a number that the engine's
reader would round, `exact` has the fields once more, as JSON text. `checksum` is of all that
a record is read from (`payloads`).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from attrs import frozen

from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder
from contextkit.errors import RecordDamagedError, RecordError
from contextkit.models.record import Filters, Hit, Range, Record, Search
from contextkit.store.identity import StoreIdentity
from contextkit.store.payloads import make_payload, scope_of
from contextkit.text.keywords import KeywordVector, embed_keywords

SCHEMA_VERSION = 3
KEYWORD_MODEL = "bm25-english-code-1"
BM25 = "bm25"
MOST_HITS = 1_000_000
"""More hits than this are never asked of an engine."""

_PLAIN_PATH = re.compile(r"[\w-]+(\.[\w-]+)*")


@frozen
class Match:
    """One condition on a payload key: any of these values, or within this range."""

    key: str
    values: tuple[str | int | bool, ...] = ()
    range: Range | None = None

    @property
    def by_type(self) -> list[list[str] | list[int] | list[bool]]:
        """The values sorted by type: an engine's list of values is of one type."""
        truths = [value for value in self.values if isinstance(value, bool)]
        texts = [value for value in self.values if isinstance(value, str)]
        numbers = [
            value for value in self.values if isinstance(value, int) and not isinstance(value, bool)
        ]
        return [same for same in (texts, numbers, truths) if same]


@frozen
class StoredPoint:
    """A record as both engines take it."""

    id: str
    payload: Mapping[str, Any]
    keywords: KeywordVector
    dense: list[float] | None


@frozen
class StoredBatch:
    """Records of one source, with their vectors.

    Attributes:
        source: the source.
        model: the name of the model; None where it cannot be found out.
        dimensions: of the dense vectors, or None where there are none.
        points: the records.
    """

    source: str
    model: str | None
    dimensions: int | None
    points: Sequence[StoredPoint]


class RecordStore(Protocol):
    """A store of records; every method blocks and may be called from any thread.

    A source's records are stored and searched with the vectors of that source's embedder.
    Where the model fails, they are with their keywords alone.
    """

    @property
    def embedders(self) -> Embedders:
        """What makes the dense vectors."""

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and models; opens the store."""

    @property
    def problem(self) -> str | None:
        """What makes its searches worse than they should be, in words, or None."""

    def revision(self, source: str) -> str | None:
        """What is another one whenever a source's records have changed; None: unknown.

        Changes by other processes count too, wherever the store can know of them. It is cheap
        and does not open the store.
        """

    def put(self, records: Sequence[Record]) -> None:
        """Store records, replacing those with the same point id; durable on return.

        Raises:
            StoreFullError: where the disk has no room, before anything is stored.
            StoreModelMismatchError: where the source's records have another model's vectors.
        """

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points; ids that are not there are passed over."""

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """The records at these points, in this order; missing ones are left out.

        Raises:
            RecordDamagedError: naming those of them that are damaged.
        """

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several questions in one round trip, each best first.

        Damaged records are left out, logged, and named in `problem`.
        """

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Every record that matches, page by page; None means any source, any project.

        Raises:
            RecordDamagedError: after the last record, naming those that are damaged.
        """

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """The records that match, newest first; damaged ones are left out as by `search`."""

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """How many records match."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep the store for several operations, where it is shared by turns."""

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Do now what searches would wait for: open, load the models, embed the queries.

        Args:
            searched: source and query of the searches to come; default: whatever the
                sources that are on may search for.
        """

    def optimize(self) -> bool:
        """Put the store in order after many writes; tell whether there was need to.

        Worth calling once after thousands of writes or deletions, at the end of an index
        run; quick where there is nothing to do.
        """

    def close(self) -> None:
        """Let go of everything; a closed store opens again when it is used."""

    def leave(self) -> None:
        """Be ready for the end of the process, which lets go of everything by itself.

        Quicker than `close` for a store that was only read. It is not used afterwards.
        """


def conditions(source: str | None, projects: Sequence[str] | None, filters: Filters) -> list[Match]:
    """The conditions that select a source's records in some projects under some filters.

    Raises `RecordError` for a filter value that no store can compare.
    """
    return _selecting(source, projects) + [
        _condition(key, wanted) for key, wanted in sorted(filters.items())
    ]


def _selecting(source: str | None, projects: Sequence[str] | None) -> list[Match]:
    if source is not None and projects is not None:
        return [Match("scope", tuple(scope_of(source, project) for project in projects))]
    if source is not None:
        return [Match("source", (source,))]
    return [] if projects is None else [Match("project", tuple(projects))]


def _condition(name: str, wanted: object) -> Match:
    key = "created_at" if name == "created_at" else f"fields.{_path(name)}"
    match wanted:
        case Range():
            return Match(key, range=_checked_range(name, wanted))
        case bool() | int() | str():
            return Match(key, (_checked_value(name, wanted),))
        case list() | tuple() | set() | frozenset() if wanted:
            return Match(key, tuple(_checked_value(name, value) for value in wanted))
    raise _not_a_filter(name, wanted)


def _path(name: str) -> str:
    """A field's name as the engines' path; a dot goes down into a nested field."""
    if _PLAIN_PATH.fullmatch(name):
        return name
    _check_unicode(name, name)
    if not name or '"' in name:
        raise RecordError(f"filter {name!r}: a field's name is not empty and has no quote in it")
    return f'"{name}"'


def _checked_value(name: str, value: object) -> str | int | bool:
    if isinstance(value, str):
        _check_unicode(name, value)
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    raise _not_a_filter(name, value)


def _check_unicode(name: str, text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RecordError(f"filter {name!r}: {text!r} is not valid Unicode") from error


def _not_a_filter(name: str, wanted: object) -> RecordError:
    return RecordError(
        f"filter {name}: expected a string, an integer of 64 bits, a non-empty list of those, "
        f"or a Range, got {wanted!r}"
    )


def _checked_range(name: str, bounds: Range) -> Range:
    given = [bound for bound in (bounds.gte, bounds.gt, bounds.lte, bounds.lt) if bound is not None]
    times = [
        bound for bound in given if isinstance(bound, datetime) and bound.utcoffset() is not None
    ]
    numbers = [bound for bound in given if isinstance(bound, (int, float)) and math.isfinite(bound)]
    if not given or len(given) not in (len(times), len(numbers)):
        raise RecordError(
            f"filter {name}: a Range has one bound at least, all of them finite numbers or all "
            f"of them datetimes with a time zone, got {bounds!r}"
        )
    return bounds


def by_source(records: Iterable[Record], most: int) -> Iterator[list[Record]]:
    """Batches of at most so many records, each of one source, in their order."""
    of_source: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        of_source[record.source].append(record)
    for same in of_source.values():
        for start in range(0, len(same), most):
            yield same[start : start + most]


def in_batches(records: Iterable[Record], most: int) -> Iterator[list[Record]]:
    """Batches of at most so many records, in their order.

    A scan says at its end which records are damaged: the last batch comes before that error.
    """
    batch: list[Record] = []
    try:
        for record in records:
            batch.append(record)
            if len(batch) == most:
                yield batch
                batch = []
    except RecordDamagedError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def stored_batch(records: Sequence[Record], embedder: Embedder) -> StoredBatch:
    """Records of one source with the vectors and the payload that both engines store."""
    texts = [record.searched_text for record in records]
    vectors = embedder.dense(texts)
    return StoredBatch(
        source=records[0].source,
        model=embedder.name,
        dimensions=None if vectors is None else vectors.shape[1],
        points=[
            StoredPoint(
                id=record.point_id,
                payload=make_payload(record),
                keywords=embed_keywords(text),
                dense=None if vectors is None or not vectors[row].any() else vectors[row].tolist(),
            )
            for row, (record, text) in enumerate(zip(records, texts, strict=True))
        ],
    )


def newest_first(records: Iterable[Record]) -> list[Record]:
    """Records by the time they came to be, newest first; ties by point id."""
    by_id = sorted(records, key=lambda record: record.point_id)
    return sorted(by_id, key=lambda record: record.created_at, reverse=True)


def candidates_for(limit: int) -> int:
    """How many hits to ask each side of a hybrid search for, so that `limit` remain."""
    return min(max(2 * limit, 20), MOST_HITS)
