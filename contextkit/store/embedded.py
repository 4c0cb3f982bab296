"""The embedded store: Qdrant Edge, the server's own engine, in a folder on disk.

Only one process may hold a shard at a time, so it is held while it is used and no other
process wants it (`shard_lock`). A write is durable against the end of the process when it
returns: the engine's write-ahead log has it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import qdrant_edge as edge
import structlog
from attrs import define, field

from contextkit.embedding import Embedder
from contextkit.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreModelMismatchError,
)
from contextkit.indexing import write_atomically
from contextkit.records import Filters, Hit, Record, Search
from contextkit.store.base import (
    SCHEMA_VERSION,
    StoreIdentity,
    conditions,
    record_from_payload,
    stored_points,
)
from contextkit.store.edge_queries import edge_filter, edge_point, plan_search, shard_config
from contextkit.store.hybrid import QueryVectors, RawHits, embed_queries, join_hits
from contextkit.store.shard_lock import ShardLock

__all__ = ["EmbeddedStore"]

MIN_FREE_BYTES = 128 * 1024 * 1024
_WRITE_BATCH = 256
_PAGE = 512
_IDLE_POLL_SECONDS = 0.05

_log = structlog.get_logger(__name__)


@contextlib.contextmanager
def _engine_errors(doing: str, error_type: type[StoreError] = StoreError) -> Iterator[None]:
    """Turn what the engine raises, a Rust panic included, into a `StoreError`."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, Exception):
            raise
        raise error_type(f"{doing}: {error}") from error


@define(eq=False)
class EmbeddedStore:
    """A record store in a folder; it is made when it is first used.

    Attributes:
        path: the store's folder.
        embedder: makes the dense vectors; must be the one that made those in the store.
        lock_timeout: seconds to wait for another process that holds the shard.
        idle_seconds: after this long without use the shard is let go of.
        indexed_fields: record fields that filters use often.
    """

    path: Path
    embedder: Embedder
    lock_timeout: float = 10.0
    idle_seconds: float = 30.0
    indexed_fields: tuple[str, ...] = ()
    _turn: threading.Condition = field(factory=threading.Condition, init=False)
    _shard: edge.EdgeShard | None = field(default=None, init=False)
    _lock: ShardLock | None = field(default=None, init=False)
    _identity: StoreIdentity | None = field(default=None, init=False)
    _users: int = field(default=0, init=False)
    _holds: int = field(default=0, init=False)
    _last_used: float = field(default=0.0, init=False)

    # -- taking turns ---------------------------------------------------------------------

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the shard for as long as this lasts: several operations, one turn."""
        with self._use(holding=True):
            yield

    @contextlib.contextmanager
    def _use(self, *, holding: bool = False) -> Iterator[edge.EdgeShard]:
        with self._turn:
            # An operation within somebody's hold goes on; whatever is new lets others first.
            while self._users and self._wanted() and (holding or not self._holds):
                self._turn.wait(timeout=_IDLE_POLL_SECONDS)
            shard = self._shard or self._open()
            self._users += 1
            self._holds += holding
        try:
            yield shard
        finally:
            with self._turn:
                self._users -= 1
                self._holds -= holding
                self._last_used = time.monotonic()
                if not self._users and self._wanted():
                    self._let_go()
                self._turn.notify_all()

    def _wanted(self) -> bool:
        return self._lock is not None and self._lock.wanted()

    def _let_go(self) -> None:
        shard, self._shard = self._shard, None
        lock, self._lock = self._lock, None
        if shard is not None:
            with _engine_errors(f"closing the store at {self.path}"):
                shard.close()
        if lock is not None:
            lock.release()

    def _watch_idle(self) -> None:
        """Let go of a shard that nobody here uses, at once where another process waits."""
        while True:
            time.sleep(_IDLE_POLL_SECONDS)
            with self._turn:
                if self._shard is None:
                    return
                idle = time.monotonic() - self._last_used
                if not self._users and (idle >= self.idle_seconds or self._wanted()):
                    self._let_go()
                    return

    # -- opening --------------------------------------------------------------------------

    def _open(self) -> edge.EdgeShard:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"no store can be made at {self.path}: {error.strerror}") from error
        lock = ShardLock(self.path, self.lock_timeout)
        lock.acquire()
        try:
            shard = self._load_or_create()
        except BaseException:
            lock.release()
            raise
        self._lock, self._shard = lock, shard
        self._last_used = time.monotonic()
        threading.Thread(target=self._watch_idle, name="contextkit-store", daemon=True).start()
        return shard

    def _load_or_create(self) -> edge.EdgeShard:
        identity = self._read_identity()
        folder = self.path / "shard"
        if identity is None:
            if folder.exists() and any(folder.iterdir()):
                raise self._damaged("it has records and no meta.json")
            identity = StoreIdentity(uuid.uuid4().hex, self.embedder.name)
            self._refuse_full_disk()
            folder.mkdir(exist_ok=True)
            with _engine_errors(f"creating the store at {self.path}"):
                shard = edge.EdgeShard.create(str(folder), shard_config())
            self._write_identity(identity)
        else:
            self._check_model(identity)
            try:
                with _engine_errors("opening", StoreDamagedError):
                    shard = edge.EdgeShard.load(str(folder))
            except StoreDamagedError as error:
                raise self._damaged(str(error)) from error
        self._identity = identity
        self._ensure_indexes(shard)
        return shard

    def _read_identity(self) -> StoreIdentity | None:
        meta = self.path / "meta.json"
        try:
            stored = json.loads(meta.read_bytes())
            version, identity = stored["schema"], StoreIdentity(stored["id"], stored["model"])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"cannot read {meta}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self._damaged(f"meta.json is not what it should be: {error!r}") from error
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"the store at {self.path} has schema {version}, this contextkit needs "
                f"{SCHEMA_VERSION}: run `contextkit export` with the version that made it, "
                f"then `contextkit import` into a new store"
            )
        return identity

    def _write_identity(self, identity: StoreIdentity) -> None:
        stored = {"schema": SCHEMA_VERSION, "id": identity.id, "model": identity.model}
        write_atomically(self.path / "meta.json", json.dumps(stored))

    def _check_model(self, identity: StoreIdentity) -> None:
        if identity.model == self.embedder.name or self.embedder.problem:
            return
        raise StoreModelMismatchError(
            f"the store at {self.path} has vectors of '{identity.model}', the configured model "
            f"is '{self.embedder.name}': run `contextkit reembed`, or set embedding.model back"
        )

    def _damaged(self, reason: str) -> StoreDamagedError:
        return StoreDamagedError(
            f"the store at {self.path} does not open ({reason}); nothing in it was changed: move "
            f"that folder away, then `contextkit import` your last export and `contextkit index`"
        )

    def _ensure_indexes(self, shard: edge.EdgeShard) -> None:
        kinds = edge.PayloadSchemaType
        wanted = {"source": kinds.Keyword, "project": kinds.Keyword, "created_at": kinds.Datetime}
        wanted.update({f"fields.{name}": kinds.Keyword for name in self.indexed_fields})
        with _engine_errors(f"opening the store at {self.path}"):
            present = shard.info().payload_schema
            for key in sorted(wanted.keys() - present.keys()):
                shard.update(edge.UpdateOperation.create_field_index(key, wanted[key]))

    def _refuse_full_disk(self) -> None:
        # The engine maps its files into memory: a write without room for it ends the process.
        free = shutil.disk_usage(self.path).free
        if free < MIN_FREE_BYTES:
            raise StoreFullError(
                f"the disk of the store at {self.path} has {free // 2**20} MiB left, a write "
                f"needs {MIN_FREE_BYTES // 2**20}: free some room; nothing was stored"
            )

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

    def prepare(self) -> None:
        """Open the shard and load the model."""
        self.embedder.dense(["warm"])
        with self._use():
            pass

    def close(self) -> None:
        """Let go of the shard; the store opens again when it is used."""
        with self._turn:
            self._turn.wait_for(lambda: self._users == 0, timeout=self.lock_timeout)
            self._let_go()

    def put(self, records: Sequence[Record], *, dense: bool = True) -> None:
        """Store records, replacing those with the same point id; durable on return."""
        for start in range(0, len(records), _WRITE_BATCH):
            batch = stored_points(records[start : start + _WRITE_BATCH], self.embedder, dense=dense)
            operation = edge.UpdateOperation.upsert_points([edge_point(point) for point in batch])
            self._update(operation)

    def delete(self, point_ids: Sequence[str]) -> None:
        """Delete points; ids that are not there are passed over."""
        self._update(edge.UpdateOperation.delete_points(list(point_ids)))

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        """Delete every record of a source that matches."""
        selected = edge_filter(conditions(source, projects, filters))
        self._update(edge.UpdateOperation.delete_points_by_filter(selected))

    def _update(self, operation: edge.UpdateOperation) -> None:
        with self._use() as shard:
            self._refuse_full_disk()
            with _engine_errors(f"writing to the store at {self.path}"):
                shard.update(operation)

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        """The records at these points, in this order; missing ones are left out."""
        with self._use() as shard:
            return self._fetch(shard)(point_ids)

    def _fetch(self, shard: edge.EdgeShard) -> Callable[[Sequence[str]], list[Record]]:
        def fetch(point_ids: Sequence[str]) -> list[Record]:
            if not point_ids:
                return []
            with _engine_errors(f"reading the store at {self.path}"):
                points = shard.retrieve(list(point_ids), with_payload=True, with_vector=False)
            found = {str(point.id): record_from_payload(point.payload or {}) for point in points}
            return [found[point_id] for point_id in point_ids if point_id in found]

        return fetch

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        """Answer several questions in one batch, each best first."""
        vectors = embed_queries(searches, self.embedder)
        with self._use() as shard:
            return join_hits(
                searches, vectors, self._raw(shard, searches, vectors), self._fetch(shard)
            )

    def _raw(
        self,
        shard: edge.EdgeShard,
        searches: Sequence[Search],
        vectors: Sequence[QueryVectors],
    ) -> list[RawHits]:
        planned = [
            plan_search(search, vector.keywords, vector.dense)
            for search, vector in zip(searches, vectors, strict=True)
        ]
        requests = [request for plan in planned for request in plan.requests]
        with _engine_errors(f"searching the store at {self.path}"):
            answers = iter(shard.query_batch(edge.QueryBatchRequest(requests)) if requests else [])
        return [
            RawHits(
                keyword_scores=_scores(next(answers)) if plan.keywords else {},
                similarities=_scores(next(answers)) if plan.dense else None,
            )
            for plan in planned
        ]

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        """Every record that matches, page by page; the shard is free between pages."""
        selected = edge_filter(conditions(source, projects, filters))
        offset = None
        while True:
            request = edge.ScrollRequest(
                limit=_PAGE, offset=offset, filter=selected, with_payload=True
            )
            with self._use() as shard, _engine_errors(f"reading the store at {self.path}"):
                points, offset = shard.scroll(request)
            for point in points:
                yield record_from_payload(point.payload or {})
            if offset is None:
                return

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        """The records that match, newest first; ties by id."""
        request = edge.ScrollRequest(
            limit=limit,
            filter=edge_filter(conditions(source, projects, filters)),
            with_payload=True,
            order_by=edge.OrderBy("created_at", edge.Direction.Desc),
        )
        with self._use() as shard, _engine_errors(f"reading the store at {self.path}"):
            points, _ = shard.scroll(request)
        return [record_from_payload(point.payload or {}) for point in points]

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        """How many records match."""
        selected = edge_filter(conditions(source, projects, filters))
        with self._use() as shard, _engine_errors(f"reading the store at {self.path}"):
            return shard.count(edge.CountRequest(exact=True, filter=selected))


def _scores(points: Sequence[edge.ScoredPoint]) -> dict[str, float]:
    return {str(point.id): point.score for point in points}
