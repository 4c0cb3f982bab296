"""Open the configured store, or replace a failed one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from attrs import frozen

from contextkit.config.installation import ID_NAME, LOCK_NAME
from contextkit.config.load import data_folder
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.files import narrow_unless_shared
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.plugin.manager import SourceRegistry
from contextkit.store.base import PointStore, RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.revisions import Revisions
from contextkit.store.shard_folder import ShardFolder

DATA_NAMES = (
    "agents",
    "config.toml",
    "history.sqlite",
    "history.sqlite-journal",
    "hooks",
    ID_NAME,
    LOCK_NAME,
    "projects",
    "state",
    "store",
)
"""The names in the data folder and in `CONTEXTKIT_HOME`."""


def open_store(
    config: Config,
    embedders: Embedders,
    indexed_fields: Mapping[str, Sequence[str]] | None = None,
    revisions: Revisions | None = None,
) -> PointStore:
    """Return the server store if configured, else the embedded one.

    The store opens on its first use, which is also when the fields are read. An embedded store
    keeps its own revisions; `revisions` keeps those of a server.
    """
    narrow_unless_shared(data_folder(), DATA_NAMES)
    if config.store.url is None:
        return EmbeddedStore(
            config.store.path or data_folder() / "store",
            embedders,
            lock_timeout=config.store.lock_timeout,
            indexed_fields=indexed_fields or {},
        )
    # The client takes a second to import.
    from contextkit.store.server import ServerStore

    return ServerStore.connect(
        config.store.url,
        embedders,
        collection=config.store.collection,
        api_key=os.environ.get(config.store.api_key_variable),
        indexed_fields=indexed_fields,
        settings=config.store,
        revisions=revisions,
    )


def is_made(store: RecordStore) -> bool:
    """Whether a store exists; its first use would make it."""
    if isinstance(store, EmbeddedStore):
        return ShardFolder(store.path).shard.exists()
    from contextkit.store.server import ServerStore
    from contextkit.store.server_errors import server_errors

    if not isinstance(store, ServerStore):
        return True
    with server_errors(store.url):
        return store.client.collection_exists(store.collection)


def place_of(store: RecordStore) -> str:
    """A store's name for people: its folder, or its server and collection."""
    if isinstance(store, EmbeddedStore):
        return str(store.path)
    return f"{getattr(store, 'url', '')}, collection {getattr(store, 'collection', '')}"


# ruff: noqa: ARG002 - the signatures are those of `RecordStore`


@frozen(eq=False)
class UnopenedStore:
    """Raises the error of a failed opening at once.

    Attributes:
        error: the error.
    """

    error: StoreError

    def _refuse(self) -> NoReturn:
        # A copy: one object raised in many threads would collect all their tracebacks.
        raise type(self.error)(*self.error.args) from self.error

    def put(self, records: Sequence[Record]) -> None:
        self._refuse()

    def delete(self, point_ids: Sequence[str]) -> None:
        self._refuse()

    def delete_where(self, source: str, projects: Sequence[str], filters: Filters) -> None:
        self._refuse()

    def get(self, point_ids: Sequence[str]) -> list[Record]:
        self._refuse()

    def search(self, searches: Sequence[Search]) -> list[list[Hit]]:
        self._refuse()

    def scan(
        self, source: str | None, projects: Sequence[str] | None, filters: Filters
    ) -> Iterator[Record]:
        self._refuse()

    def newest(
        self, source: str, projects: Sequence[str], filters: Filters, limit: int
    ) -> list[Record]:
        self._refuse()

    def count(self, source: str | None, projects: Sequence[str] | None, filters: Filters) -> int:
        self._refuse()


@frozen(eq=False)
class IndexedFields(Mapping[str, Sequence[str]]):
    """Record fields that each source filters by, including later sources."""

    registry: SourceRegistry

    def __getitem__(self, source: str) -> Sequence[str]:
        return self.registry.info(source).indexed_fields

    def __iter__(self) -> Iterator[str]:
        return iter(self.registry.sources)

    def __len__(self) -> int:
        return len(self.registry.sources)
