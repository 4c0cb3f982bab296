"""contextkit: five sources of the host's own over the embedded store, by the public API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

from contextkit import ContextItem, ContextKit, ContextRequest, DenseModel, Record, hookimpl
from contextkit.embedding.built_in import load_embedder
from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import DIMENSIONS, LIMIT, WEIGHTS, Answer, Material

__all__ = ["ContextKitSystem"]

_PATIENT = {"assemble.source_timeout": 30.0, "assemble.deadline": 30.0}
_BATCH = 2048


@frozen(eq=False)
class _Source:
    """A source that offers what a search of its records finds."""

    name: str

    @hookimpl
    async def contextkit_query(self, request: ContextRequest) -> Sequence[ContextItem]:
        hits = await request.records.search(request.query, limit=request.limit)
        return [
            ContextItem(self.name, hit.record.text, hit.relevance, id=hit.record.id) for hit in hits
        ]

    @hookimpl
    def contextkit_weight(self, request: ContextRequest) -> float:
        return WEIGHTS[self.name]


@frozen(eq=False)
class _KnownVectors:
    """The default model, for records whose vectors are there already."""

    vectors: dict[str, NDArray[np.float32]]
    name: str
    dimensions: int = DIMENSIONS

    @hookimpl
    def contextkit_embedder(self, model: str) -> DenseModel:
        return self

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.float32]:
        """The known vector, or a new one for a text whose secrets were replaced."""
        known = self.vectors.get(text)
        if known is not None:
            return known
        made = load_embedder().dense([text])
        assert made is not None
        return np.asarray(made[0], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.vectors[text]


@define(eq=False)
class ContextKitSystem:
    """contextkit."""

    packages = ("contextkit-core", "qdrant-edge-py")
    own = "retrieval, fusion, near duplicates, budgets, text"
    by_hand = "nothing"
    _kit: ContextKit = field(init=False)
    # `asyncio.Runner` sets and unsets a signal handler for each run, which a host does not.
    _loop: asyncio.AbstractEventLoop = field(factory=asyncio.new_event_loop, init=False)

    def _opened(self, folder: Path, model: str = "wordllama") -> ContextKit:
        workspace = folder / "workspace"
        workspace.mkdir(exist_ok=True)
        settings = {**_PATIENT, "store.path": str(folder / "store"), "embedding.model": model}
        kit = ContextKit.open(workspace, settings=settings, environment={}, entry_points=False)
        for name in SOURCES:
            kit.register(_Source(name), name)
        return kit

    def build(self, material: Material, folder: Path) -> None:
        """Put the records, and put the store in order as an index run does."""
        name = load_embedder().name or ""
        with self._opened(folder, "known:vectors") as kit:
            kit.register(_KnownVectors(material.by_text(), name), "known")
            for source in SOURCES:
                records = kit.records(source)
                for start in range(0, len(material.records[source]), _BATCH):
                    batch = material.records[source][start : start + _BATCH]
                    records.put([Record(id=each.id, text=each.text) for each in batch])
            kit.store.optimize()

    def open(self, folder: Path) -> None:
        """Open the kit; the store opens with the first question."""
        self._kit = self._opened(folder)

    def answer(self, query: str, budget: int) -> Answer:
        """Assemble."""
        context = self._loop.run_until_complete(
            self._kit.assemble_context(query, SOURCES, limit=LIMIT, max_tokens=budget)
        )
        if context.token_count > budget:
            raise AssertionError(f"{context.token_count} tokens for {query!r}")
        return Answer(context.markdown, [item.id for item in context.items])

    def close(self) -> None:
        """Close the kit."""
        self._kit.close()
        self._loop.close()
