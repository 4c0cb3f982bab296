"""Choosing the store that the configuration asks for.

What stands for the records of a store that did not open: each use says why.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from attrs import frozen

from contextkit.config.load import data_folder
from contextkit.config.settings import Config
from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.files import narrow_unless_shared
from contextkit.models.record import Filters, Hit, Record, Search
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.revisions import Revisions

DATA_NAMES = (
    "claude-code",
    "config.toml",
    "history.sqlite",
    "history.sqlite-journal",
    "hooks",
    "projects",
    "state",
    "store",
)
"""What the data folder has in it, and what `CONTEXTKIT_HOME` has besides."""


def open_store(
    config: Config,
    embedders: Embedders,
    indexed_fields: Mapping[str, Sequence[str]] | None = None,
    revisions: Revisions | None = None,
) -> RecordStore:
    """The store: a Qdrant server where `store.url` is set, else the embedded one.

    Nothing is opened yet; that happens when it is first used, and the fields are read then.
    A server's revisions are kept where they are said to be, an embedded store keeps its own.
    """
    narrow_unless_shared(data_folder(), DATA_NAMES)
    if config.store.url is None:
        return EmbeddedStore(
            config.store.path or data_folder() / "store",
            embedders,
            lock_timeout=config.store.lock_timeout,
            indexed_fields=indexed_fields or {},
        )
    # The client costs a second to import.
    from contextkit.store.server import ServerStore

    return ServerStore.connect(
        config.store.url,
        embedders,
        collection=config.store.collection,
        api_key=os.environ.get(config.store.api_key_variable),
        indexed_fields=indexed_fields,
        revisions=revisions,
    )


# ruff: noqa: ARG002 - the signatures are those of `RecordStore`


@frozen(eq=False)
class UnopenedStore:
    """Raises at once what opening the store raised, instead of another wait for it.

    Attributes:
        error: what it raised.
    """

    error: StoreError

    def _refuse(self) -> NoReturn:
        # A copy: the same object raised in many threads would gather all their tracebacks.
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
