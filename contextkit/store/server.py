"""The server store: records on a Qdrant server, for teams."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

from attrs import Factory, define, field
from qdrant_client import QdrantClient, models

from contextkit.embedding.choice import Embedders
from contextkit.errors import RecordDamagedError, StoreError
from contextkit.logs import get_logger
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.store.base import MOST_HITS, by_source, conditions, newest_first, stored_batch
from contextkit.store.hybrid import (
    QueryVectors,
    RawHits,
    embed_queries,
    join_hits,
    prepare_queries,
    vector_names,
)
from contextkit.store.identity import StoreIdentity
from contextkit.store.payloads import Damage, Payload
from contextkit.store.revisions import ProcessRevisions, Revisions
from contextkit.store.server_collection import ServerCollection
from contextkit.store.server_errors import server_errors
from contextkit.store.server_queries import plan_search, server_filter, server_point
from contextkit.text.keywords import embed_keywords

_TIMEOUT_SECONDS = 10
_WRITE_BATCH = 256
_WRITE_CHARACTERS = 4_000_000
_PAGE = 256

_log = get_logger(__name__)


@define(eq=False)
class ServerStore:
    """A record store in a Qdrant collection.

    Attributes:
        client: reaches the server; its creator closes it.
        embedders: make the dense vectors of each source.
        collection: the collection's name.
        indexed_fields: source -> the record fields that its filters use.
        url: the server's name in errors.
        revisions: track writes; default: only this process's.
    """

    client: QdrantClient
    embedders: Embedders
    collection: str = "contextkit"
    indexed_fields: Mapping[str, Sequence[str]] = Factory(dict)
    url: str = "the given client"
    _reconnect: Callable[[], QdrantClient] | None = None
    revisions: Revisions = field(factory=ProcessRevisions, kw_only=True)
    _connected_in: int = field(factory=os.getpid, init=False)
    _made: ServerCollection = field(init=False)
    _identity: StoreIdentity | None = field(default=None, init=False)
    _damage: Damage = field(factory=Damage, init=False)
    _opening: threading.Lock = field(factory=threading.Lock, init=False)

    @_made.default
    def _collection(self) -> ServerCollection:
        return ServerCollection(self.collection, self.url, self.indexed_fields)

    @classmethod
    def connect(
        cls,
        url: str,
        embedders: Embedders,
        *,
        collection: str = "contextkit",
        api_key: str | None = None,
        indexed_fields: Mapping[str, Sequence[str]] | None = None,
        timeout: int = _TIMEOUT_SECONDS,
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
            timeout: seconds to wait for each answer.
            revisions: track writes; default: only this process's.

        Raises `StoreError` for an invalid URL.
        """
        parts = _checked_url(url)
        if api_key and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1"):
            _log.warning("api_key_sent_unencrypted", url=url)

        def reconnect() -> QdrantClient:
            with server_errors(url), warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Api key is used with an insecure")
                return QdrantClient(
                    url=url, api_key=api_key, timeout=timeout, check_compatibility=False
                )

        return cls(
            reconnect(),
            embedders,
            collection,
            indexed_fields or {},
            url,
            reconnect,
            revisions=revisions or ProcessRevisions(),
        )

    # -- opening --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _use(self) -> Iterator[QdrantClient]:
        """The client, after checking the collection."""
        with self._opening:
            if self._reconnect and self._connected_in != os.getpid():
                # Closed before, or forked: a child must not write to its parent's connections.
                self.client = self._reconnect()
                self._connected_in = os.getpid()
            client = self.client
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
        found = (self.embedders.problem, self._damage.problem)
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
        """Close the connections.

        The store connects again on its next use.
        """
        with self._opening:
            self._identity = None
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
        for same in by_source(records, _WRITE_BATCH):
            for part in _batches(same):
                batch = stored_batch(part, self.embedders.of(part[0].source))
                with self._noted(batch.source), self._use() as client:
                    self._identity = self._made.admit(client, self._known(client), batch)
                    vector = self._identity.vector_for(batch.model)
                    points = [server_point(point, vector) for point in batch.points]
                    client.upsert(self.collection, points, wait=True)
                    self._damage.mended(point.id for point in batch.points)

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points, ignoring unknown ids."""
        if not point_ids:
            return
        selector = models.PointIdsList(points=list(point_ids))
        with self._noted(None), self._use() as client:
            client.delete(self.collection, selector, wait=True)
        self._damage.mended(point_ids)

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""
        selected = server_filter(conditions(source, projects, filters))
        with self._noted(source), self._use() as client:
            client.delete(self.collection, models.FilterSelector(filter=selected), wait=True)
        self._damage.mended(None)

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """Return the records at these points, in this order."""
        if not point_ids:
            return []
        with self._use() as client:
            points = client.retrieve(self.collection, list(point_ids), with_payload=True)
        found = self._damage.sound(_payloads(points))
        if damaged := self._damage.names(point_ids):
            raise RecordDamagedError(damaged)
        return [found[point_id] for point_id in point_ids if point_id in found]

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several searches in one round trip, each best first."""
        vectors = embed_queries(searches, self.embedders)
        answers: list[list[models.ScoredPoint]] = []
        with self._use() as client:
            identity = self._with_models(client, vectors)
            names = vector_names(searches, vectors, identity, self._made.place)
            planned = [plan_search(*each) for each in zip(searches, vectors, names, strict=True)]
            requests = [request for plan in planned for request in plan.requests]
            if requests:
                batch = client.query_batch_points(self.collection, requests)
                answers = [answer.points for answer in batch]
        records = self._damage.sound(_payloads(point for answer in answers for point in answer))
        remaining = iter(answers)
        raw = [
            RawHits(
                keyword_scores=_scores(next(remaining)) if plan.keywords else {},
                similarities=_scores(next(remaining)) if plan.dense else None,
            )
            for plan in planned
        ]

        def fetch(point_ids: Sequence[str]) -> dict[str, Record]:
            return {point: records[point] for point in point_ids if point in records}

        def words_of(point_ids: Iterable[str]) -> dict[str, frozenset[int]]:
            return {
                point: frozenset(embed_keywords(records[point].searched_text).indices)
                for point in point_ids
                if point in records
            }

        return join_hits(searches, vectors, raw, words_of, fetch)

    def _with_models(self, client: QdrantClient, vectors: Sequence[QueryVectors]) -> StoreIdentity:
        """The identity, read again if a model is missing."""
        identity = self._known(client)
        if any(v.dense is not None and v.model not in identity.models for v in vectors):
            identity = self._identity = self._made.read(client) or identity
        return identity

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Iterate over the matching records, page by page."""
        return self._pages(server_filter(conditions(source, projects, filters)))

    def _pages(self, selected: models.Filter) -> Iterator[Record]:
        offset: Any = None
        damaged: list[str] = []
        while True:
            with self._use() as client:
                points, offset = client.scroll(
                    self.collection, selected, limit=_PAGE, offset=offset, with_payload=True
                )
            yield from self._damage.sound(_payloads(points)).values()
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
        selected = server_filter(conditions(source, projects, filters))
        order = models.OrderBy(key="created_at", direction=models.Direction.DESC)
        with self._use() as client:
            points, _ = client.scroll(
                self.collection,
                selected,
                limit=min(limit, MOST_HITS),
                order_by=order,
                with_payload=True,
            )
        return newest_first(self._damage.sound(_payloads(points)).values())

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """Count the matching records."""
        selected = server_filter(conditions(source, projects, filters))
        with self._use() as client:
            return client.count(self.collection, count_filter=selected, exact=True).count


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Split records into requests of limited size."""
    batch: list[Record] = []
    characters = 0
    for record in records:
        size = len(record.searched_text)
        if batch and (len(batch) == _WRITE_BATCH or characters + size > _WRITE_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(record)
        characters += size
    if batch:
        yield batch


def _payloads(points: Iterable[models.ScoredPoint | models.Record]) -> Iterator[Payload]:
    return ((str(point.id), point.payload) for point in points)


def _scores(points: Sequence[models.ScoredPoint]) -> dict[str, float]:
    return {str(point.id): point.score for point in points}


def _checked_url(url: str) -> SplitResult:
    with contextlib.suppress(ValueError):
        parts = urlsplit(url)
        # Reading the port raises for one that is not a number.
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    raise StoreError(f"store.url: expected http://HOST:PORT or https://HOST, got '{url}'")
