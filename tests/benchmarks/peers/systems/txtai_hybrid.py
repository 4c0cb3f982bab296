"""txtai: one hybrid Embeddings database with content a source, its defaults otherwise.

Hybrid search and its fusion are its own, and so is the choice of an index: exact up to
5,000 records, inverted lists of FAISS beyond. Vectors come by its `external` method.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from numpy.typing import NDArray

from tests.benchmarks.peers.corpus import SOURCES
from tests.benchmarks.peers.system import (
    LIMIT,
    Answer,
    Found,
    Material,
    fitted,
    in_turn,
    query_vector,
    without_near_duplicates,
)

__all__ = ["Txtai"]


@define(eq=False)
class Txtai:
    """txtai."""

    packages = ("txtai-minimal", "faiss-cpu", "msgpack")
    own = "retrieval, fusion"
    by_hand = "near duplicates, budgets, text"
    _databases: dict[str, Any] = field(factory=dict, init=False)

    def build(self, material: Material, folder: Path) -> None:
        """A saved database for each source."""
        from txtai import Embeddings

        known = material.by_text()

        def transform(texts: list[str]) -> NDArray[np.float32]:
            return np.stack([known[text] for text in texts])

        for source in SOURCES:
            database = Embeddings(method="external", transform=transform, content=True, hybrid=True)
            database.index([(record.id, record.text) for record in material.records[source]])
            database.save(str(folder / source))

    def open(self, folder: Path) -> None:
        """Load the databases."""
        from txtai import Embeddings

        for source in SOURCES:
            database = Embeddings()
            database.load(str(folder / source), config={"transform": _transformed})
            self._databases[source] = database

    def answer(self, query: str, budget: int) -> Answer:
        """Ask the five, filter, fit."""
        rankings = [
            [Found(row["id"], source, row["text"]) for row in database.search(query, LIMIT)]
            for source, database in self._databases.items()
        ]
        return fitted(without_near_duplicates(in_turn(rankings)), budget)

    def close(self) -> None:
        """Close the databases."""
        for database in self._databases.values():
            database.close()


def _transformed(texts: list[str]) -> NDArray[np.float32]:
    return np.array([query_vector(text) for text in texts], dtype=np.float32)
