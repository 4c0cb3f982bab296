"""The interface of every record store, and their common schema.

A record is a point in one collection. Its payload has `source`, `project`, `id`, `text`,
`keywords`, `created_at` (RFC 3339) and the source's own `fields`. Its vectors are a sparse one
(with the engine's inverse document frequency) and, if its source has a model, a dense one under
that model's name. On a server, points have UUIDs and the sparse vector is `bm25`; in an embedded
store, they have numbers (`payloads.point_number`), and each source has a sparse vector of its
own (`edge_queries.keyword_vector`).

`scope` joins source and project, so that a search filters by one condition instead of two.
`exact` repeats `fields` as JSON text if `fields` has a number that the engine's reader would
round. `checksum` covers everything that a record is read from (`payloads`).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

from attrs import frozen

from contextkit.concurrency import began_before, one_ahead
from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder
from contextkit.errors import RecordDamagedError, RecordError, StoreError
from contextkit.models.record import Filters, Hit, Range, Record, Search
from contextkit.store.identity import StoreIdentity
from contextkit.store.payloads import make_payload, scope_of
from contextkit.text.keywords import AnyKeywordVector, embed_keywords

SCHEMA_VERSION = 3
"""The schema of a server's collection; `shard_folder.SHARD_SCHEMA` is that of a shard."""

KEYWORD_MODEL = "bm25-english-code-1"
BM25 = "bm25"
MOST_HITS = 1_000_000
"""The most hits that an engine is asked for."""

_PLAIN_PATH = re.compile(r"[\w-]+(\.[\w-]+)*")


@frozen
class Match:
    """One condition on a payload key: values, a range, or no value."""

    key: str
    values: tuple[str | int | bool, ...] = ()
    range: Range | None = None
    missing: bool = False

    @property
    def by_type(self) -> list[list[str] | list[int] | list[bool]]:
        """The values, grouped by type as engines need them."""
        truths = [value for value in self.values if isinstance(value, bool)]
        texts = [value for value in self.values if isinstance(value, str)]
        numbers = [
            value for value in self.values if isinstance(value, int) and not isinstance(value, bool)
        ]
        return [same for same in (texts, numbers, truths) if same]


@frozen
class StoredPoint:
    """A record in the form that both engines store.

    Attributes:
        id: the point's UUID.
        payload: see `contextkit.store.payloads`.
        keywords: the sparse vector.
        dense: the dense vector; None without one.
    """

    id: str
    payload: Mapping[str, Any]
    keywords: AnyKeywordVector
    dense: Sequence[float] | None


@frozen
class StoredBatch:
    """Records of one source, with their vectors.

    Attributes:
        source: the source.
        model: the name of the model; None if it is unknown.
        dimensions: of the dense vectors; None without dense vectors.
        points: the records.
    """

    source: str
    model: str | None
    dimensions: int | None
    points: Sequence[StoredPoint]


class RecordStore(Protocol):
    """A store of records.

    Every method blocks and may be called from any thread. A source's records are stored and
    searched with the vectors of that source's embedder, or by keywords alone if its model fails.
    """

    @property
    def embedders(self) -> Embedders:
        """The embedders that make the dense vectors."""

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and models; opens the store."""

    @property
    def problem(self) -> str | None:
        """Why searches are worse than they should be, or None."""

    def revision(self, source: str) -> str | None:
        """A token that changes whenever a source's records change.

        It is None if unknown. It covers changes by other processes as far as the store can see
        them. Reading it is cheap and does not open the store.
        """

    def put(self, records: Sequence[Record]) -> None:
        """Store records, replacing those with the same point id.

        The records are durable when this returns.

        Raises:
            StoreFullError: the disk has no room; nothing was stored.
            StoreModelMismatchError: the source's records have another model's vectors.
        """

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points, ignoring unknown ids."""

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """Return the records at these points, in this order.

        Missing records are left out.

        Raises:
            RecordDamagedError: some of the records are damaged; the error names them.
        """

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several searches in one round trip, each best first.

        Damaged records are left out, logged, and named in `problem`.
        """

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Iterate over the matching records, page by page.

        None means any source or any project.

        Raises:
            RecordDamagedError: some records are damaged; raised after the last sound one.
        """

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """Return the matching records, newest first, without damaged ones."""

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Count the matching records."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep a shared store open for several operations."""

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Open the store, load models and embed coming queries.

        Args:
            searched: source and query of the searches to come; default: load the models of all
                enabled sources.
        """

    def optimize(self) -> bool:
        """Optimize the store after many writes.

        Return whether that was needed.

        Call it once after thousands of writes or deletions, at the end of an index run. It
        returns at once if there is nothing to do.
        """

    def close(self) -> None:
        """Release everything; later work opens the store again.

        Work that `in_thread` began before gets a `StoreError` instead.
        """

    def leave(self) -> None:
        """Prepare for the end of the process.

        It is quicker than `close` for a store that was only read. The store is not used
        afterwards.
        """


@runtime_checkable
class HasPoints(Protocol):
    """A store that has its vectors itself."""

    def scan_points(self) -> Iterator[StoredBatch]:
        """Iterate over all records with their stored vectors.

        Raises:
            RecordDamagedError: some records are damaged; raised after the last sound one.
        """


class PointStore(RecordStore, HasPoints, Protocol):
    """The embedded store, or one on a server."""


def refuse_earlier_work(closed_at: float, place: object) -> None:
    """Raise `StoreError` for work that began before a store was closed."""
    if began_before(closed_at):
        raise StoreError(f"the store at {place} was closed during this query: ask again")


def conditions(source: str | None, projects: Sequence[str] | None, filters: Filters) -> list[Match]:
    """Conditions that select records by source, projects and filters.

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
        case None:
            return Match(key, missing=True)
        case Range():
            return Match(key, range=_checked_range(name, wanted))
        case bool() | int() | str():
            return Match(key, (_checked_value(name, wanted),))
        case list() | tuple() | set() | frozenset() if wanted:
            return Match(key, tuple(_checked_value(name, value) for value in wanted))
    raise _not_a_filter(name, wanted)


def _path(name: str) -> str:
    """Write a field's name as the engines' path.

    A dot enters a nested field.
    """
    if _PLAIN_PATH.fullmatch(name):
        return name
    _check_unicode(name, name)
    if not name or '"' in name:
        raise RecordError(
            f"filter {name!r}: expected the name of a field, not empty and without quotes"
        )
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
        f"filter {name}: expected a string, a 64-bit integer, a non-empty list of those, "
        f"a Range, or None for no value, got {wanted!r}"
    )


def _checked_range(name: str, bounds: Range) -> Range:
    given = [bound for bound in (bounds.gte, bounds.gt, bounds.lte, bounds.lt) if bound is not None]
    times = [
        bound for bound in given if isinstance(bound, datetime) and bound.utcoffset() is not None
    ]
    numbers = [bound for bound in given if isinstance(bound, (int, float)) and math.isfinite(bound)]
    if not given or len(given) not in (len(times), len(numbers)):
        raise RecordError(
            f"filter {name}: a Range needs at least one bound, either finite numbers or datetimes "
            f"with a time zone, got {bounds!r}"
        )
    return bounds


def by_source(records: Iterable[Record], most: int) -> Iterator[list[Record]]:
    """Split records into batches of one source each."""
    of_source: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        of_source[record.source].append(record)
    for same in of_source.values():
        for start in range(0, len(same), most):
            yield same[start : start + most]


def in_batches(records: Iterable[Record], most: int) -> Iterator[list[Record]]:
    """Split records into batches, in their order.

    A scan raises the error that names damaged records at its end, so the last batch is yielded
    before that error.
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


def stored_batches(
    parts: Iterable[Sequence[Record]], embedders: Embedders
) -> Iterator[StoredBatch]:
    """Build the batches of parts of one source each.

    While a batch is written, a thread embeds the next one.
    """
    whole = list(parts)
    calls = [partial(stored_batch, part, embedders.of(part[0].source)) for part in whole]
    return (call() for call in calls) if len(calls) == 1 else one_ahead(calls)


def stored_batch(records: Sequence[Record], embedder: Embedder) -> StoredBatch:
    """Build the vectors and payloads of one source's records."""
    texts = [record.searched_text for record in records]
    vectors = embedder.dense(texts)
    dense: list[Sequence[float] | None] = [None] * len(texts)
    if vectors is not None:
        # Lists of a batch's numbers would take twice as long to make, read and free.
        with_words = cast("list[bool]", vectors.any(axis=1).tolist())
        rows = zip(vectors, with_words, strict=True)
        dense = [memoryview(row) if has_words else None for row, has_words in rows]
    return StoredBatch(
        source=records[0].source,
        model=embedder.name,
        dimensions=None if vectors is None else vectors.shape[1],
        points=[
            StoredPoint(
                id=record.point_id,
                payload=make_payload(record),
                keywords=embed_keywords(text),
                dense=vector,
            )
            for record, text, vector in zip(records, texts, dense, strict=True)
        ],
    )


def newest_first(records: Iterable[Record]) -> list[Record]:
    """Sort records by creation time, newest first.

    Ties by id, as a point id depends on where the project is.
    """
    by_id = sorted(records, key=lambda record: (record.id, record.project))
    return sorted(by_id, key=lambda record: record.created_at, reverse=True)


def candidates_for(limit: int) -> int:
    """Hits that each side of a hybrid search fetches."""
    return min(max(2 * limit, 20), MOST_HITS)
