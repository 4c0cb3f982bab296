"""LlamaIndex: a QueryFusionRetriever of BM25 and a FAISS vector index a source.

Its default vector store compares in Python; FAISS is what its documentation has for more
than a few thousand nodes. `num_queries=1`, so that no model writes further queries, and
the query's vector is made once and travels in the `QueryBundle`.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

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

__all__ = ["LlamaIndex"]


@define(eq=False)
class LlamaIndex:
    """LlamaIndex with FAISS."""

    packages = ("llama-index-core", "llama-index-retrievers-bm25", "faiss-cpu")
    own = "retrieval, fusion"
    by_hand = "near duplicates, budgets, text"
    _retrievers: dict[str, Any] = field(factory=dict, init=False)

    def build(self, material: Material, folder: Path) -> None:
        """A persisted vector index and a persisted BM25Retriever for each source."""
        import faiss
        from llama_index.core import StorageContext, VectorStoreIndex
        from llama_index.core.schema import TextNode
        from llama_index.retrievers.bm25 import BM25Retriever
        from llama_index.vector_stores.faiss import FaissVectorStore

        for source in SOURCES:
            pairs = zip(material.records[source], material.vectors[source].tolist(), strict=True)
            nodes = [
                TextNode(id_=record.id, text=record.text, embedding=vector)
                for record, vector in pairs
            ]
            vectors = FaissVectorStore(faiss_index=faiss.IndexFlatIP(DIMENSIONS))
            index = VectorStoreIndex(
                nodes,
                storage_context=StorageContext.from_defaults(vector_store=vectors),
                embed_model=_embedding(),
            )
            index.storage_context.persist(str(folder / source))
            bare = [TextNode(id_=node.id_, text=node.text) for node in nodes]
            keywords = BM25Retriever.from_defaults(nodes=bare, similarity_top_k=CANDIDATES)
            keywords.persist(str(folder / f"{source}-words"))

    def open(self, folder: Path) -> None:
        """Load both and join them."""
        from llama_index.core import StorageContext, load_index_from_storage
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
        from llama_index.retrievers.bm25 import BM25Retriever
        from llama_index.vector_stores.faiss import FaissVectorStore

        logging.getLogger("llama_index").setLevel(logging.ERROR)
        for source in SOURCES:
            persisted = str(folder / source)
            storage = StorageContext.from_defaults(
                vector_store=FaissVectorStore.from_persist_dir(persisted), persist_dir=persisted
            )
            index = load_index_from_storage(storage, embed_model=_embedding())
            keywords = BM25Retriever.from_persist_dir(str(folder / f"{source}-words"))
            self._retrievers[source] = QueryFusionRetriever(
                [index.as_retriever(similarity_top_k=CANDIDATES), keywords],
                llm=MockLLM(),
                mode=FUSION_MODES.RECIPROCAL_RANK,
                similarity_top_k=LIMIT,
                num_queries=1,
                use_async=False,
            )

    def answer(self, query: str, budget: int) -> Answer:
        """Ask the five, filter, fit."""
        from llama_index.core import QueryBundle

        bundle = QueryBundle(query, embedding=list(query_vector(query)))
        rankings = [
            [
                Found(hit.node.node_id, source, hit.node.get_content())
                for hit in retriever.retrieve(bundle)
            ]
            for source, retriever in self._retrievers.items()
        ]
        return fitted(without_near_duplicates(in_turn(rankings)), budget)

    def close(self) -> None:
        """Nothing is open."""


def _embedding() -> Any:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class SharedEmbedding(BaseEmbedding):
        """The vectors that every system has; records come with theirs."""

        def _get_query_embedding(self, query: str) -> list[float]:
            return list(query_vector(query))

        def _get_text_embedding(self, text: str) -> list[float]:
            return list(query_vector(text))

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return SharedEmbedding(model_name="shared")
