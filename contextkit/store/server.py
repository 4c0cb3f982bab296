"""The server store: records on a Qdrant server, for teams."""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

from attrs import Factory, define, field
from qdrant_client import QdrantClient, models

from contextkit.config.sections import StoreSettings
from contextkit.embedding.choice import Embedders
from contextkit.errors import RecordDamagedError, StoreError
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.store.base import (
    MOST_HITS,
    StoredBatch,
    by_source,
    conditions,
    newest_first,
    refuse_earlier_work,
    stored_batches as new_batches,
)
from contextkit.store.hybrid import (
    PlannedSearch,
    QueryVectors,
    embed_queries,
    prepare_queries,
    vector_names,
)
from contextkit.store.identity import StoreIdentity
from contextkit.store.payloads import Damage
from contextkit.store.revisions import ProcessRevisions, Revisions
from contextkit.store.searcher_filters import matches
from contextkit.store.server_collection import ServerCollection
from contextkit.store.server_connection import connector
from contextkit.store.server_errors import server_errors
from contextkit.store.server_facts import ServerFacts, read_facts
from contextkit.store.server_queries import WRITE_BATCH, server_filter, server_point, write_batches
from contextkit.store.server_reading import PointReader, payloads, stored_batches
from contextkit.store.server_retry import RetryingClient
from contextkit.store.server_search import found_hits, plan_search

_DELETE_BATCH = 10_000
_INDEX_MISSING = "Index required"

_T = TypeVar("_T")


@define(eq=False)
class ServerStore:
    """A record store in a Qdrant collection.

    Attributes:
        client: reaches the server; its creator closes it.
        embedders: make the dense vectors of each source.
        collection: the collection's name.
        indexed_fields: source -> the record fields that its filters use.
        url: the server's name in errors.
        settings: time limits, and the form of the collection.
        revisions: track writes; default: only this process's.
    """

    client: QdrantClient
    embedders: Embedders
    collection: str = "contextkit"
    indexed_fields: Mapping[str, Sequence[str]] = Factory(dict)
    url: str = "the given client"
    _reconnect: Callable[[], QdrantClient] | None = None
    settings: StoreSettings = field(factory=StoreSettings, kw_only=True)
    revisions: Revisions = field(factory=ProcessRevisions, kw_only=True)
    _connected_in: int = field(factory=os.getpid, init=False)
    _made: ServerCollection = field(init=False)
    _retrying: RetryingClient = field(init=False)
    _identity: StoreIdentity | None = field(default=None, init=False)
    _damage: Damage = field(factory=Damage, init=False)
    _opening: threading.Lock = field(factory=threading.Lock, init=False)
    _closed_at: float = field(default=-math.inf, init=False)

    @_made.default
    def _collection(self) -> ServerCollection:
        return ServerCollection(self.collection, self.url, self.indexed_fields, self.settings)

    @_retrying.default
    def _given_client(self) -> RetryingClient:
        return RetryingClient(self.client, self.url)

    @classmethod
    def connect(
        cls,
        url: str,
        embedders: Embedders,
        *,
        collection: str = "contextkit",
        api_key: str | None = None,
        indexed_fields: Mapping[str, Sequence[str]] | None = None,
        settings: StoreSettings | None = None,
        revisions: Revisions | None = None,
    ) -> Self:
        """Return the store at a URL.

        Nothing is sent before its first use.

        Args:
            url: `http://` or `https://`, a host, and the port if it is not 6333.
            embedders: make the dense vectors of each source.
            collection: the collection's name.
            api_key: the server's API key, if it needs one.
            indexed_fields: source -> the record fields that its filters use.
            settings: time limits, the way to the server, and the form of the collection.
            revisions: track writes; default: only this process's.

        Raises `StoreError` for an invalid URL or CA file.
        """
        settings = settings or StoreSettings()
        reconnect = connector(url, api_key, settings)
        return cls(
            reconnect(),
            embedders,
            collection,
            indexed_fields or {},
            url,
            reconnect,
            settings=settings,
            revisions=revisions or ProcessRevisions(),
        )

    # -- opening --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _use(self, seconds: float | None = None) -> Iterator[QdrantClient]:
        """The client, after checking the collection.

        Args:
            seconds: time limit of each request with its repetitions; default: `retry_timeout`.
        """
        with self._opening:
            if self._reconnect and self._connected_in != os.getpid():
                refuse_earlier_work(self._closed_at, self.url)
                # Closed before, or forked: a child must not write to its parent's connections.
                self.client = self._retrying.client = self._reconnect()
                self._connected_in = os.getpid()
            client = self._retrying.within(seconds or self.settings.retry_timeout)
            if self._identity is None:
                with server_errors(self.url):
                    self._identity = self._made.open(client, self.embedders)
        try:
            with server_errors(self.url):
                yield client
        except StoreError:
            # The collection may have been deleted or replaced: check it before the next use.
            self._identity = None
            raise

    def _answer(self, ask: Callable[[PointReader], _T], seconds: float | None = None) -> _T:
        """Ask the server; once more if strict mode was switched on or an index was replaced."""
        for attempt in (1, 2):
            try:
                with self._use(seconds) as client:
                    return ask(PointReader(client, self.collection, self._made.limits))
            except StoreError as error:
                if attempt == 2 or _INDEX_MISSING not in str(error):
                    raise
                self._made.strict = True
        raise AssertionError("both attempts return or raise")

    def _select(
        self,
        reader: PointReader,
        source: str | None,
        projects: Sequence[str] | None,
        filters: Filters,
    ) -> models.Filter:
        """Select records, with the points named that only this process can select."""
        limits = reader.limits
        chosen = self._made.indexes.select(reader.client, source, projects, filters)
        selected = server_filter(chosen.matches, limits)
        if not chosen.here:
            return selected
        found = self._damage.sound(payloads(reader.all(selected)))
        ids = [point_id for point_id, record in found.items() if matches(record, chosen.here)]
        return server_filter(chosen.matches, limits, ids)

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[QdrantClient, ServerCollection]]:
        """The client and the collection, for what other modules do with them."""
        with self._use() as client:
            yield client, self._made

    def facts(self) -> ServerFacts:
        """The state of the server and of the collection; opens the store."""
        with self._use() as client:
            return read_facts(client, self.collection)

    # -- the interface --------------------------------------------------------------------

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and models; opens the store."""
        with self._use() as client:
            return self._known(client)

    def _known(self, client: QdrantClient) -> StoreIdentity:
        """The identity, read again after a failure cleared it."""
        return self._identity or self._made.open(client, self.embedders)

    @property
    def problem(self) -> str | None:
        """Why searches are worse than they should be, or None."""
        unfinished = None if self._identity is None else self._identity.unfinished
        found = (self.embedders.problem, self._damage.problem, unfinished)
        return "; ".join(filter(None, found)) or None

    def revision(self, source: str) -> str | None:
        """A token that changes with known changes of records."""
        return self.revisions.of(source)

    @contextlib.contextmanager
    def _noted(self, source: str | None) -> Iterator[None]:
        try:
            yield
        finally:
            self.revisions.changed(source)

    def hold(self) -> contextlib.AbstractContextManager[None]:
        """Nothing to lock: a server answers concurrently."""
        return contextlib.nullcontext()

    def prepare(self, searched: Iterable[tuple[str, str]] | None = None) -> None:
        """Connect, create the collection if needed, load models, embed queries."""
        with self._use():
            pass
        prepare_queries(searched, self.embedders)

    def close(self) -> None:
        """Close the connections; later work connects again."""
        with self._opening:
            self._identity, self._closed_at = None, time.perf_counter()
            if self._reconnect and self._connected_in:
                self.client.close()
                self._connected_in = 0

    def leave(self) -> None:
        """Nothing to do: the connections end with the process."""

    def optimize(self) -> bool:
        """Nothing to do: a server optimizes itself."""
        return False

    def put(self, records: Sequence[Record]) -> None:
        """Store records, replacing those with the same point id.

        Durable on return.
        """
        parts = (part for same in by_source(records, WRITE_BATCH) for part in write_batches(same))
        for batch in new_batches(parts, self.embedders):
            with self._noted(batch.source), self._use() as client:
                self._identity = self._made.admit(client, self._known(client), batch)
                vector = self._identity.vector_for(batch.model)
                points = [server_point(point, vector) for point in batch.points]
                most = self._made.limits.points(len(points))
                for start in range(0, len(points), most):
                    client.upsert(self.collection, points[start : start + most], wait=True)
                self._damage.mended(point.id for point in batch.points)

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points, ignoring unknown ids."""
        if not point_ids:
            return
        with self._noted(None), self._use() as client:
            most = self._made.limits.points(_DELETE_BATCH)
            for start in range(0, len(point_ids), most):
                selector = models.PointIdsList(points=list(point_ids[start : start + most]))
                client.delete(self.collection, selector, wait=True)
        self._damage.mended(point_ids)

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""

        def delete(reader: PointReader) -> None:
            selected = self._select(reader, source, projects, filters)
            selector = models.FilterSelector(filter=selected)
            reader.client.delete(self.collection, selector, wait=True)

        with self._noted(source):
            self._answer(delete)
        self._damage.mended(None)

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """Return the records at these points, in this order."""
        if not point_ids:
            return []
        with self._use() as client:
            points = client.retrieve(self.collection, list(point_ids), with_payload=True)
        found = self._damage.sound(payloads(points))
        if damaged := self._damage.names(point_ids):
            raise RecordDamagedError(damaged)
        return [found[point_id] for point_id in point_ids if point_id in found]

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several searches in one round trip, each best first."""
        vectors = embed_queries(searches, self.embedders)
        planned, answers = self._answer(
            lambda reader: self._searched(reader, searches, vectors), self.settings.timeout
        )
        records = self._damage.sound(payloads(point for answer in answers for point in answer))
        return found_hits(searches, vectors, planned, answers, records)

    def _searched(
        self, reader: PointReader, searches: Sequence[Search], vectors: Sequence[QueryVectors]
    ) -> tuple[list[PlannedSearch[models.QueryRequest]], list[list[models.ScoredPoint]]]:
        """Plan the searches and answer them."""
        identity = self._with_models(reader.client, vectors)
        names = vector_names(searches, vectors, identity, self._made.place)
        planned = [
            plan_search(
                search,
                query,
                vector,
                self._select(reader, search.source, search.projects, search.filters),
                reader.limits.results(MOST_HITS),
            )
            for search, query, vector in zip(searches, vectors, names, strict=True)
        ]
        return planned, reader.search([each for plan in planned for each in plan.requests])

    def _with_models(self, client: QdrantClient, vectors: Sequence[QueryVectors]) -> StoreIdentity:
        """The identity, read again if a model is missing or records get new vectors."""
        identity = self._known(client)
        missing = any(v.dense is not None and v.model not in identity.models for v in vectors)
        if missing or identity.moving:
            identity = self._identity = self._made.read(client) or identity
        return identity

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Iterate over the matching records, page by page."""
        conditions(source, projects, filters)  # Wrong filters are refused at once.
        return self._pages(source, projects, filters)

    def _pages(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        offset: Any = None
        damaged: list[str] = []
        selected: models.Filter | None = None

        def page(reader: PointReader) -> tuple[models.Filter, Sequence[models.Record], Any]:
            chosen = selected or self._select(reader, source, projects, filters)
            return chosen, *reader.page(chosen, offset)

        while True:
            selected, points, offset = self._answer(page)
            yield from self._damage.sound(payloads(points)).values()
            damaged += self._damage.names(str(point.id) for point in points)
            if offset is None:
                break
        if damaged:
            raise RecordDamagedError(damaged)

    def scan_points(self) -> Iterator[StoredBatch]:
        """Iterate over all records with their stored vectors."""
        offset, damaged = None, list[str]()
        while True:
            with self._use() as client:
                reader = PointReader(client, self.collection, self._made.limits)
                points, offset = reader.page(server_filter([]), offset, with_vectors=True)
                batches = stored_batches(points, self._known(client), self._damage)
            yield from batches
            damaged += self._damage.names(str(point.id) for point in points)
            if offset is None:
                break
        if damaged:
            raise RecordDamagedError(damaged)

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """Return the matching records, newest first; ties by id."""
        if limit < 1:
            return []
        points = self._answer(
            lambda reader: reader.newest(
                self._select(reader, source, projects, filters), min(limit, MOST_HITS)
            )
        )
        return newest_first(self._damage.sound(payloads(points)).values())

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Count the matching records."""
        return self._answer(
            lambda reader: reader.count(self._select(reader, source, projects, filters))
        )
