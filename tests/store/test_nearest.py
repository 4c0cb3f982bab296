"""Search by meaning in an embedded store, whose engine keeps the numbers of vectors in few bits."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from contextkit.embedding.built_in import load_embedder
from contextkit.embedding.choice import Embedders
from contextkit.models.record import Record
from contextkit.models.records import Records
from contextkit.store.embedded import EmbeddedStore

_THINGS = ("boat", "captain", "doctor", "engine", "hospital", "nurse", "port", "repair", "vessel")
_OTHERS = ("bread", "budget", "cat", "kettle", "letter", "piano", "planet", "winter")
_QUERIES = ("ships in a harbour", "sailors and their yachts", "clinics and their physicians")


def test_similarities_are_those_of_the_vectors_within_a_hundredth(
    embedders: Embedders, tmp_path: Path
) -> None:
    """A stored number takes one byte: before the store is in order, after, and once reopened."""
    store = EmbeddedStore(tmp_path / "store", embedders)
    notes = Records(store, "notes", "p")
    texts = {f"{n}": f"note {n} on the {word} and the sea" for n, word in enumerate(_THINGS)}
    notes.put([Record(id=name, text=text) for name, text in texts.items()])
    wanted = dict(
        zip(texts, _similarities(list(texts.values()), "ships in a harbour"), strict=True)
    )
    for _ in range(2):
        hits = notes.search_sync("ships in a harbour", limit=len(texts))
        assert len(hits) == len(texts)
        for hit in hits:
            assert hit.similarity == pytest.approx(wanted[hit.record.id], abs=0.01)
        store.optimize()
        store.close()


def test_the_nearest_of_many_records_are_found(embedders: Embedders, tmp_path: Path) -> None:
    """Two bits of each number choose the candidates of a store in order, and all bits the best."""
    store = EmbeddedStore(tmp_path / "store", embedders)
    notes = Records(store, "notes", "p")
    words = product(_THINGS, _OTHERS, _THINGS, _OTHERS)
    texts = [f"{a}, {b}, {c}, {d}" for a, b, c, d in words]
    notes.put([Record(id=f"{n}", text=text) for n, text in enumerate(texts)])
    assert store.optimize()
    for query in _QUERIES:
        least = np.sort(_similarities(texts, query))[-20]
        hits = notes.search_sync(query, limit=20)
        assert [hit.similarity for hit in hits if (hit.similarity or 0) < least - 0.003] == []
    store.close()


def _similarities(texts: list[str], query: str) -> np.ndarray:
    vectors, wanted = load_embedder().dense(texts), load_embedder().query(query)
    assert vectors is not None
    return np.asarray(vectors @ np.array(wanted))
