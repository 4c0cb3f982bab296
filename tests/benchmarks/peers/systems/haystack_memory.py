"""Haystack: one Pipeline of a text embedder, ten retrievers, five joiners and the rest.

Its in-memory document store is what its documentation uses without a server, with BM25 and
embedding retrieval over the same documents. A second system takes the dense side from
`FAISSDocumentStore`, which has no keyword search.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from attrs import define, field

from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import (
    CANDIDATES,
    DIMENSIONS,
    LIMIT,
    Answer,
    Found,
    Material,
    fitted,
    in_turn,
    query_vector,
    without_near_duplicates,
)

__all__ = ["Haystack", "HaystackFaiss"]


@define(eq=False)
class Haystack:
    """Haystack with its in-memory document store."""

    packages: ClassVar[Sequence[str]] = ("haystack-ai",)
    own = "retrieval, fusion, pipeline"
    by_hand = "near duplicates, budgets, text"
    _pipeline: Any = field(default=None, init=False)

    def build(self, material: Material, folder: Path) -> None:
        """A document store on the disk for each source."""
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        for source in SOURCES:
            store = InMemoryDocumentStore()
            store.write_documents(_documents(material, source))
            store.save_to_disk(str(folder / f"{source}-words.json"))

    def open(self, folder: Path) -> None:
        """Load the stores and connect the pipeline."""
        from haystack import Pipeline
        from haystack.components.joiners import DocumentJoiner
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        logging.getLogger("haystack").setLevel(logging.ERROR)
        pipeline = Pipeline()
        pipeline.add_component("embedder", _embedder())
        pipeline.add_component("context", _context())
        for source in SOURCES:
            store = InMemoryDocumentStore.load_from_disk(str(folder / f"{source}-words.json"))
            store.return_embedding = False
            keywords = InMemoryBM25Retriever(store, top_k=CANDIDATES)
            joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=LIMIT)
            pipeline.add_component(f"{source}_words", keywords)
            pipeline.add_component(f"{source}_meaning", self._dense(store, folder, source))
            pipeline.add_component(source, joiner)
            pipeline.connect("embedder.embedding", f"{source}_meaning.query_embedding")
            pipeline.connect(f"{source}_words.documents", f"{source}.documents")
            pipeline.connect(f"{source}_meaning.documents", f"{source}.documents")
            pipeline.connect(f"{source}.documents", f"context.{source}")
        self._pipeline = pipeline

    def _dense(self, store: Any, folder: Path, source: str) -> Any:
        from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever

        return InMemoryEmbeddingRetriever(store, top_k=CANDIDATES)

    def answer(self, query: str, budget: int) -> Answer:
        """Run the pipeline."""
        asked = {f"{source}_words": {"query": query} for source in SOURCES}
        answered = self._pipeline.run(
            {"embedder": {"text": query}, "context": {"budget": budget}, **asked}
        )
        answer: Answer = answered["context"]["answer"]
        return answer

    def close(self) -> None:
        """Nothing is open."""


@define(eq=False)
class HaystackFaiss(Haystack):
    """Haystack with FAISS for the vectors."""

    packages: ClassVar[Sequence[str]] = ("haystack-ai", "faiss-haystack", "faiss-cpu")

    def build(self, material: Material, folder: Path) -> None:
        """Two document stores for each source."""
        from haystack.document_stores.in_memory import InMemoryDocumentStore
        from haystack_integrations.document_stores.faiss import FAISSDocumentStore

        for source in SOURCES:
            documents = _documents(material, source)
            vectors = FAISSDocumentStore(embedding_dim=DIMENSIONS)
            vectors.write_documents(documents)
            vectors.save(folder / source)
            for document in documents:
                document.embedding = None
            store = InMemoryDocumentStore()
            store.write_documents(documents)
            store.save_to_disk(str(folder / f"{source}-words.json"))

    def _dense(self, store: Any, folder: Path, source: str) -> Any:
        from haystack_integrations.components.retrievers.faiss import FAISSEmbeddingRetriever
        from haystack_integrations.document_stores.faiss import FAISSDocumentStore

        vectors = FAISSDocumentStore(index_path=str(folder / source), embedding_dim=DIMENSIONS)
        return FAISSEmbeddingRetriever(document_store=vectors, top_k=CANDIDATES)


def _documents(material: Material, source: str) -> list[Any]:
    from haystack import Document

    pairs = zip(material.records[source], material.vectors[source].tolist(), strict=True)
    return [
        Document(id=record.id, content=record.text, embedding=vector) for record, vector in pairs
    ]


def _embedder() -> Any:
    from haystack import component

    @component
    class SharedTextEmbedder:
        """The vectors that every system has."""

        @component.output_types(embedding=list[float])
        def run(self, text: str) -> dict[str, list[float]]:
            return {"embedding": list(query_vector(text))}

    return SharedTextEmbedder()


def _context() -> Any:
    from haystack import Document, component

    @component
    class ContextBuilder:
        """The steps for which there is no component."""

        def __init__(self) -> None:
            component.set_input_types(self, **dict.fromkeys(SOURCES, list[Document]))

        @component.output_types(answer=Answer)
        def run(self, budget: int, **found: list[Document]) -> dict[str, Answer]:
            rankings = [
                [Found(each.id, source, each.content or "") for each in found[source]]
                for source in SOURCES
            ]
            return {"answer": fitted(without_near_duplicates(in_turn(rankings)), budget)}

    return ContextBuilder()
