"""Many records in one call, in batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.errors import ConfigError
from contextkit.models.record import Record
from contextkit.store.embedded import EmbeddedStore

_MANY = 1_000


class _Lengths:
    """A model whose vectors' angles tell a text's length, and which refuses some texts.

    Attributes:
        most: the texts that it embeds before it refuses.
    """

    name = "lengths"
    dimensions = 2

    def __init__(self, most: int) -> None:
        self.most = most

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.most -= len(texts)
        if self.most < 0:
            raise ConfigError("no more", key="embedding.model")
        angles = np.array([len(text) / _MANY for text in texts], dtype=np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_records([text])[0]
        return vector


def _store(folder: Path, model: _Lengths) -> EmbeddedStore:
    return EmbeddedStore(folder, OneEmbedder(ModelEmbedder("lengths", lambda: model)))


def _records(number: int) -> list[Record]:
    return [
        Record(id=str(n), text="a" * (n + 1), source="notes", project="p") for n in range(number)
    ]


def test_each_record_gets_its_own_vector(tmp_path: Path) -> None:
    """However many batches there are."""
    store = _store(tmp_path, _Lengths(_MANY))
    store.put(_records(_MANY))
    points = [point for batch in store.scan_points() for point in batch.points]
    store.close()

    assert len(points) == _MANY
    for point in points:
        x, y = point.dense or (0.0, 0.0)
        assert math.atan2(y, x) == pytest.approx(len(point.payload["text"]) / _MANY, abs=0.01)


def test_an_error_ends_the_call_and_keeps_what_is_stored(tmp_path: Path) -> None:
    """The batches before it are there, and the error is the model's."""
    store = _store(tmp_path, _Lengths(600))
    with pytest.raises(ConfigError, match="no more"):
        store.put(_records(_MANY))
    assert store.count("notes", ["p"], {}) == 512
    store.close()
