"""LangChain: an EnsembleRetriever of BM25 and FAISS a source, and its redundancy filter.

The pattern of its documentation for several retrievers: hybrid search by
`EnsembleRetriever`, the lists taken in turn as `MergerRetriever` does, and
`EmbeddingsRedundantFilter` over what came of it, at its default threshold.
"""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path
from typing import Any

from attrs import define, field

from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import (
    CANDIDATES,
    LIMIT,
    Answer,
    Found,
    Material,
    fitted,
    in_turn,
    query_vector,
)

__all__ = ["LangChain"]

_WORD = re.compile(r"\w+")


def tokenized(text: str) -> list[str]:
    """Words in small letters; the retriever's own default splits at spaces only."""
    return _WORD.findall(text.lower())


@define(eq=False)
class LangChain:
    """LangChain with FAISS."""

    packages = ("langchain-core", "langchain-classic", "langchain-community", "faiss-cpu")
    own = "retrieval, fusion, near duplicates (EmbeddingsRedundantFilter)"
    by_hand = "budgets, text"
    _retrievers: list[Any] = field(factory=list, init=False)
    _filter: Any = field(default=None, init=False)

    def build(self, material: Material, folder: Path) -> None:
        """A FAISS folder and a pickled BM25Retriever for each source."""
        warnings.simplefilter("ignore")
        from langchain_community.retrievers import BM25Retriever
        from langchain_community.vectorstores import FAISS
        from langchain_community.vectorstores.utils import DistanceStrategy

        for source in SOURCES:
            records = material.records[source]
            texts = [record.text for record in records]
            metadatas = [{"id": record.id, "source": source} for record in records]
            vectors = FAISS.from_embeddings(
                list(zip(texts, material.vectors[source].tolist(), strict=True)),
                _embeddings(),
                metadatas=metadatas,
                distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
            )
            vectors.save_local(str(folder / source))
            keywords = BM25Retriever.from_texts(
                texts, metadatas=metadatas, preprocess_func=tokenized, k=CANDIDATES
            )
            (folder / f"{source}.pickle").write_bytes(pickle.dumps(keywords))

    def open(self, folder: Path) -> None:
        """Load both and join them."""
        warnings.simplefilter("ignore")
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_community.document_transformers import EmbeddingsRedundantFilter
        from langchain_community.vectorstores import FAISS
        from langchain_community.vectorstores.utils import DistanceStrategy

        for source in SOURCES:
            vectors = FAISS.load_local(
                str(folder / source),
                _embeddings(),
                allow_dangerous_deserialization=True,
                distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
            )
            keywords = pickle.loads((folder / f"{source}.pickle").read_bytes())  # noqa: S301
            both = [keywords, vectors.as_retriever(search_kwargs={"k": CANDIDATES})]
            self._retrievers.append(EnsembleRetriever(retrievers=both, id_key="id"))
        self._filter = EmbeddingsRedundantFilter(embeddings=_embeddings())

    def answer(self, query: str, budget: int) -> Answer:
        """Ask the five, filter, fit."""
        rankings = [
            [
                Found(each.metadata["id"], each.metadata["source"], each.page_content)
                for each in retriever.invoke(query)[:LIMIT]
            ]
            for retriever in self._retrievers
        ]
        from langchain_core.documents import Document

        merged = in_turn(rankings)
        documents = [
            Document(page_content=each.text, metadata={"place": place})
            for place, each in enumerate(merged)
        ]
        kept = self._filter.transform_documents(documents)
        return fitted([merged[document.metadata["place"]] for document in kept], budget)

    def close(self) -> None:
        """Nothing is open."""


def _embeddings() -> Any:
    from langchain_core.embeddings import Embeddings

    from contextkit.embedding.built_in import load_embedder

    class SharedEmbeddings(Embeddings):
        """The vectors that every system has."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors = load_embedder().dense(texts)
            assert vectors is not None
            return [vector.tolist() for vector in vectors]

        def embed_query(self, text: str) -> list[float]:
            return list(query_vector(text))

    return SharedEmbeddings()
