"""Choosing the store that the configuration asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from contextkit.config import Config
from contextkit.config.layers import data_folder
from contextkit.embedding import Embedders
from contextkit.private_files import narrow_unless_shared
from contextkit.store.base import RecordStore
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.revisions import Revisions

__all__ = ["DATA_NAMES", "open_store"]

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
