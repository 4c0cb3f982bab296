"""Real parts for tests: stores, a small model, index runs."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.models.embedding import DenseModel
from contextkit.models.indexer import Indexer, IndexState, Progress
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen
class HashingModel:
    """A dense model of words alone.

    Texts with the same words have the same vector.

    Attributes:
        dimensions: numbers in each vector.
        name: the name that a store saves.
    """

    dimensions: int = 16
    name: str = "hashing"

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % self.dimensions] += 1
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a query's vector."""
        vector: NDArray[np.float32] = self.embed_records([text])[0]
        return vector


@contextlib.contextmanager
def open_records(
    path: Path,
    source: str,
    project: str = "p",
    *,
    model: str | DenseModel = "wordllama",
) -> Iterator[Records]:
    """Open a source's records on an embedded store.

    The store is in a folder, and is closed at the end.

    Args:
        path: the store's folder.
        source: the source.
        project: the project.
        model: `wordllama`, `none` for a search by keywords alone, or a model to test.
    """
    if isinstance(model, str):
        embedder = load_embedder(model)
    else:
        found = model
        embedder = ModelEmbedder(found.name, lambda: found, timeout=None)
    store = EmbeddedStore(path, OneEmbedder(embedder))
    try:
        yield Records(store, source, project)
    finally:
        store.close()


def make_indexer(
    records: Records,
    workspace: Path,
    state_path: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    progress: list[Progress] | None = None,
    owned_elsewhere: Collection[str] = (),
) -> Indexer:
    """Create an index run over a workspace.

    Its reports are appended to `progress`.
    """
    reported = [] if progress is None else progress
    return Indexer(
        workspace=workspace,
        project=records.project,
        records=records,
        state=IndexState(state_path),
        settings=settings or {},
        report=reported.append,
        owned_elsewhere=frozenset(owned_elsewhere),
    )
