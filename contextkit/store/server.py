"""The server store: the same records on a Qdrant server, for teams and many machines."""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, cast
from urllib.parse import urlsplit

import structlog
from attrs import define, field
from qdrant_client import QdrantClient, models

from contextkit.embedding import DIMENSIONS, Embedder
from contextkit.errors import StoreError, StoreModelMismatchError
from contextkit.records import Filters, Hit, Record, Search
from contextkit.store.base import (
    BM25,
    DENSE,
    KEYWORD_MODEL,
    MOST_HITS,
    SCHEMA_VERSION,
    StoreIdentity,
    conditions,
    newest_first,
    record_from_payload,
    stored_points,
)
from contextkit.store.hybrid import RawHits, embed_queries, join_hits
from contextkit.store.server_errors import server_errors
from contextkit.store.server_queries import (
    META_POINT,
    plan_search,
    server_filter,
    server_index,
    server_point,
    server_schema,
)

__all__ = ["ServerStore"]

_TIMEOUT_SECONDS = 10
_WRITE_BATCH = 256
_WRITE_CHARACTERS = 4_000_000
_PAGE = 256

_log = structlog.get_logger(__name__)


@define(eq=False)
class ServerStore:
    """A record store in one collection of a Qdrant server; it is made when it is first used.

    Attributes:
        client: reaches the server; who made it closes it.
        embedder: makes the dense vectors; must be the one that made those in the store.
        collection: the collection's name.
        indexed_fields: record fields that filters use often.
        url: what errors call the server.
    """

    client: QdrantClient
    embedder: Embedder
    collection: str = "contextkit"
    indexed_fields: Iterable[str] = ()
    url: str = "the given client"
    _reconnect: Callable[[], QdrantClient] | None = None
    _connected_in: int = field(factory=os.getpid, init=False)
    _identity: StoreIdentity | None = field(default=None, init=False)
    _opening: threading.Lock = field(factory=threading.Lock, init=False)

    @classmethod
    def connect(
        cls,
        url: str,
        embedder: Embedder,
        *,
        collection: str = "contextkit",
        api_key: str | None = None,
        indexed_fields: Iterable[str] = (),
        timeout: int = _TIMEOUT_SECONDS,
    ) -> Self:
        """The store on the server at a URL; nothing is sent before it is used.

        Args:
            url: `http://` or `https://`, a host, and a port where it is not 6333.
            embedder: makes the dense vectors.
            collection: the collection's name.
            api_key: what the server asks for, where it does.
            indexed_fields: record fields that filters use often.
            timeout: seconds to wait for each answer.

        Raises `StoreError` where the URL is none.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise StoreError(f"store.url: expected http://HOST:PORT or https://HOST, got '{url}'")
        if api_key and parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1"):
            _log.warning("api_key_sent_unencrypted", url=url)

        def reconnect() -> QdrantClient:
            with server_errors(url), warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Api key is used with an insecure")
                return QdrantClient(
                    url=url, api_key=api_key, timeout=timeout, check_compatibility=False
                )

        return cls(reconnect(), embedder, collection, indexed_fields, url, reconnect)

    # -- opening --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _use(self) -> Iterator[QdrantClient]:
        """The client, once the collection is known to be there and ours."""
        with self._opening:
            if self._reconnect and self._connected_in != os.getpid():
                # Closed since, or forked: a child must not write to its parent's connections.
                self.client = self._reconnect()
                self._connected_in = os.getpid()
            client = self.client
            if self._identity is None:
                with server_errors(self.url):
                    self._identity = self._open(client)
        try:
            with server_errors(self.url):
                yield client
        except StoreError:
            # The collection may be gone or another: look again before the next use.
            self._identity = None
            raise

    def _open(self, client: QdrantClient) -> StoreIdentity:
        if not client.collection_exists(self.collection):
            self._create(client)
        self._check_schema(client)
        identity = self._read_identity(client) or self._leave_identity(client)
        if identity.model != self.embedder.name and not self.embedder.problem:
            raise StoreModelMismatchError(
                f"the store at {self.url} has vectors of '{identity.model}', the configured model "
                f"is '{self.embedder.name}': set embedding.model back, or `contextkit export` "
                f"and `contextkit import` into another store.collection"
            )
        return identity

    def _create(self, client: QdrantClient) -> None:
        try:
            client.create_collection(self.collection, **server_schema())
        except Exception:
            # Another process may have made it in the same moment.
            if not client.collection_exists(self.collection):
                raise

    def _check_schema(self, client: QdrantClient) -> None:
        info = client.get_collection(self.collection)
        dense, sparse = info.config.params.vectors, info.config.params.sparse_vectors or {}
        wanted = dense.get(DENSE) if isinstance(dense, dict) else None
        fits = (
            wanted is not None
            and (wanted.size, wanted.distance) == (DIMENSIONS, models.Distance.COSINE)
            and BM25 in sparse
            and sparse[BM25].modifier == models.Modifier.IDF
        )
        if not fits:
            raise StoreError(
                f"the collection '{self.collection}' at {self.url} is not one of contextkit's: "
                f"choose another name in store.collection"
            )
        if _is_local(client):
            return
        fields = (f"fields.{name}" for name in self.indexed_fields)
        for key in ("source", "project", "created_at", *fields):
            if key not in info.payload_schema:
                client.create_payload_index(self.collection, key, server_index(key), wait=True)

    def _read_identity(self, client: QdrantClient) -> StoreIdentity | None:
        found = client.retrieve(self.collection, [META_POINT], with_payload=True)
        if not found:
            return None
        meta = found[0].payload or {}
        if (meta.get("schema"), meta.get("keyword_model")) != (SCHEMA_VERSION, KEYWORD_MODEL):
            raise StoreError(
                f"another version of contextkit made the collection '{self.collection}' at "
                f"{self.url}: choose another name in store.collection, then `contextkit import` "
                f"what that version exports"
            )
        return StoreIdentity(str(meta.get("store_id")), str(meta.get("model")))

    def _leave_identity(self, client: QdrantClient) -> StoreIdentity:
        """Write the identity unless another process just did; return the one that is there."""
        meta = models.PointStruct(
            id=META_POINT,
            vector={},
            payload={
                "schema": SCHEMA_VERSION,
                "keyword_model": KEYWORD_MODEL,
                "store_id": uuid.uuid4().hex,
                "model": self.embedder.name,
            },
        )
        client.upsert(self.collection, [meta], wait=True, **_insert_only())
        written = self._read_identity(client)
        if written is None:
            raise StoreError(f"the store at {self.url} did not keep what was written to it")
        return written

    # -- the interface --------------------------------------------------------------------

    @property
    def identity(self) -> StoreIdentity:
        """The store's id and model; opens the store."""
        with self._use():
            return cast("StoreIdentity", self._identity)

    @property
    def problem(self) -> str | None:
        """What makes its searches worse than they should be, in words, or None."""
        return self.embedder.problem

    def hold(self) -> contextlib.AbstractContextManager[None]:
        """Nothing: a server serves everybody at once."""
        return contextlib.nullcontext()

    def prepare(self) -> None:
        """Connect, make the collection where it is not there, and load the model."""
        self.embedder.dense(["warm"])
        with self._use():
            pass

    def close(self) -> None:
        """Close the connections; the store connects again when it is used."""
        with self._opening:
            self._identity = None
            if self._reconnect and self._connected_in:
                self.client.close()
                self._connected_in = 0

    def optimize(self) -> bool:
        """Nothing: a server does so by itself."""
        return False

    def put(self, records: Sequence[Record], *, dense: bool = True) -> None:
        """Store records, replacing those with the same point id; durable on return."""
        for batch in _batches(records):
            points = [server_point(p) for p in stored_points(batch, self.embedder, dense=dense)]
            with self._use() as client:
                client.upsert(self.collection, points, wait=True)

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points; ids that are not there are passed over."""
        if not point_ids:
            return
        selector = models.PointIdsList(points=list(point_ids))
        with self._use() as client:
            client.delete(self.collection, selector, wait=True)

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""
        selected = server_filter(conditions(source, projects, filters))
        with self._use() as client:
            client.delete(self.collection, models.FilterSelector(filter=selected), wait=True)

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """The records at these points, in this order; missing ones are left out."""
        if not point_ids:
            return []
        with self._use() as client:
            points = client.retrieve(self.collection, list(point_ids), with_payload=True)
        found = {str(point.id): record_from_payload(point.payload or {}) for point in points}
        return [found[point_id] for point_id in point_ids if point_id in found]

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several questions in one round trip, each best first."""
        vectors = embed_queries(searches, self.embedder)
        planned = [
            plan_search(search, vector.keywords, vector.dense)
            for search, vector in zip(searches, vectors, strict=True)
        ]
        requests = [request for plan in planned for request in plan.requests]
        answers: list[list[models.ScoredPoint]] = []
        if requests:
            with self._use() as client:
                batch = client.query_batch_points(self.collection, requests)
            answers = [answer.points for answer in batch]
        records = {
            str(point.id): record_from_payload(point.payload or {})
            for answer in answers
            for point in answer
        }
        remaining = iter(answers)
        raw = [
            RawHits(
                keyword_scores=_scores(next(remaining)) if plan.keywords else {},
                similarities=_scores(next(remaining)) if plan.dense else None,
            )
            for plan in planned
        ]

        def fetch(point_ids: Sequence[str]) -> dict[str, Record]:
            return {point_id: records[point_id] for point_id in point_ids}

        return join_hits(searches, vectors, raw, fetch)

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Every record that matches, page by page."""
        return self._pages(server_filter(conditions(source, projects, filters)))

    def _pages(self, selected: models.Filter) -> Iterator[Record]:
        offset: Any = None
        while True:
            with self._use() as client:
                points, offset = client.scroll(
                    self.collection, selected, limit=_PAGE, offset=offset, with_payload=True
                )
            for point in points:
                yield record_from_payload(point.payload or {})
            if offset is None:
                return

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """The records that match, newest first; ties by id."""
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
        return newest_first(record_from_payload(point.payload or {}) for point in points)

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """How many records match."""
        selected = server_filter(conditions(source, projects, filters))
        with self._use() as client:
            return client.count(self.collection, count_filter=selected, exact=True).count


def _is_local(client: QdrantClient) -> bool:
    """Whether the client has its data in this process, where indexes do nothing but warn."""
    options = client.init_options
    return options.get("location") == ":memory:" or options.get("path") is not None


def _insert_only() -> dict[str, Any]:
    mode = getattr(models, "UpdateMode", None)
    return {} if mode is None else {"update_mode": mode.INSERT_ONLY}


def _batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """What goes in one request: a server refuses one that is too large."""
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


def _scores(points: Sequence[models.ScoredPoint]) -> dict[str, float]:
    return {str(point.id): point.score for point in points}
