"""What the tests of a plugin need: real records on a real store, and an index run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from contextkit.embedding import load_embedder
from contextkit.indexing import Indexer, IndexState, Progress
from contextkit.records import Records
from contextkit.store.embedded import EmbeddedStore

__all__ = ["make_indexer", "open_records"]


@contextlib.contextmanager
def open_records(
    path: Path, source: str, project: str = "p", *, dense: bool = True, model: str = "wordllama"
) -> Iterator[Records]:
    """A source's records on an embedded store in a folder, which is closed at the end."""
    store = EmbeddedStore(path, load_embedder(model))
    try:
        yield Records(store, source, project, dense)
    finally:
        store.close()


def make_indexer(
    records: Records,
    workspace: Path,
    state_path: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: list[Progress] | None = None,
) -> Indexer:
    """An index run over a workspace; what it reports is appended to `progress`."""
    reported = [] if progress is None else progress
    return Indexer(
        workspace=workspace,
        project=records.project,
        records=records,
        state=IndexState(state_path),
        settings=settings or {},
        report=reported.append,
    )
