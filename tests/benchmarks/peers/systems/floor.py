"""The floor: numpy and bm25s, with as little between them as will do the job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import (
    CANDIDATES,
    Answer,
    Found,
    Material,
    by_reciprocal_rank,
    fitted,
    in_turn,
    query_vector,
    without_near_duplicates,
)

__all__ = ["Floor"]


@define(eq=False)
class _Shelf:
    """One source: its vectors, its keyword index, where its texts are in the file."""

    name: str
    vectors: NDArray[np.float32]
    keywords: Any
    ids: list[str]
    starts: NDArray[np.int64]
    texts: Path

    def search(self, tokens: list[list[str]], vector: NDArray[np.float32]) -> list[int]:
        """Places of records, best first."""
        most = min(CANDIDATES, len(self.ids))
        by_words, scores = self.keywords.retrieve(tokens, k=most, show_progress=False)
        found = by_words[0][scores[0] > 0].tolist()
        similarities = self.vectors @ vector
        nearest = np.argpartition(similarities, -most)[-most:]
        by_meaning = nearest[np.argsort(-similarities[nearest])].tolist()
        return by_reciprocal_rank([found, by_meaning])

    def read(self, places: list[int]) -> list[Found]:
        """Records, read from the file."""
        found = []
        with self.texts.open("rb") as file:
            for place in places:
                file.seek(self.starts[place])
                text = file.read(self.starts[place + 1] - self.starts[place]).decode()
                found.append(Found(self.ids[place], self.name, text))
        return found


@define(eq=False)
class Floor:
    """numpy and bm25s."""

    packages = ("numpy", "bm25s")
    own = "keyword search"
    by_hand = "dense search, fusion, near duplicates, budgets, text"
    _shelves: list[_Shelf] = field(factory=list, init=False)
    _stemmer: Any = field(default=None, init=False)

    def build(self, material: Material, folder: Path) -> None:
        """An index of words, an array of vectors and a file of texts for each source."""
        import bm25s
        import Stemmer

        stemmer = Stemmer.Stemmer("english")
        for source in SOURCES:
            own = folder / source
            own.mkdir()
            records = material.records[source]
            texts = [record.text for record in records]
            index = bm25s.BM25()
            index.index(
                bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False),
                show_progress=False,
            )
            index.save(own / "words")
            np.save(own / "vectors.npy", material.vectors[source])
            data = [text.encode() for text in texts]
            np.save(own / "starts.npy", np.cumsum([0, *map(len, data)]))
            (own / "texts").write_bytes(b"".join(data))
            (own / "ids.json").write_text(json.dumps([record.id for record in records]))

    def open(self, folder: Path) -> None:
        """Map what is large, read what is small."""
        import bm25s
        import Stemmer

        self._stemmer = Stemmer.Stemmer("english")
        self._shelves = [
            _Shelf(
                name=source,
                vectors=np.load(folder / source / "vectors.npy", mmap_mode="r"),
                keywords=bm25s.BM25.load(folder / source / "words", mmap=True),
                ids=json.loads((folder / source / "ids.json").read_text()),
                starts=np.load(folder / source / "starts.npy"),
                texts=folder / source / "texts",
            )
            for source in SOURCES
        ]

    def answer(self, query: str, budget: int) -> Answer:
        """Search, fuse, filter, fit."""
        import bm25s

        tokens = bm25s.tokenize(
            query, stopwords="en", stemmer=self._stemmer, show_progress=False, return_ids=False
        )
        vector = np.array(query_vector(query), dtype=np.float32)
        rankings = [shelf.read(shelf.search(tokens, vector)) for shelf in self._shelves]
        return fitted(without_near_duplicates(in_turn(rankings)), budget)

    def close(self) -> None:
        """Nothing is open."""
