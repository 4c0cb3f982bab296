"""Stores with the schema before, as the version before wrote them.

`python older.py STORE` converts one in a process of its own, which a test can kill.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path

import qdrant_edge as edge

from contextkit.embedding.choice import OneEmbedder
from contextkit.embedding.embedder import ModelEmbedder
from contextkit.models.record import Record
from contextkit.store.base import KEYWORD_MODEL, by_source, stored_batch
from contextkit.store.edge_queries import STORE_INDEXES, index_of, model_vector
from contextkit.store.embedded import EmbeddedStore
from contextkit.store.identity import StoreIdentity, StorePlace
from contextkit.store.shard_config import shard_config
from contextkit.testing import HashingModel


def hashing() -> OneEmbedder:
    """The same model for every source."""
    return OneEmbedder(ModelEmbedder("hash", lambda: HashingModel(256), timeout=None))


def make_older(path: Path, records: Sequence[Record]) -> str:
    """Make a store of schema 3; return its id.

    Points have UUIDs, and all sources share the vector `bm25`.
    """
    shard = path / "shard"
    shard.mkdir(parents=True)
    opened = edge.EdgeShard.create(str(shard), shard_config())
    identity = StoreIdentity(uuid.uuid4().hex)
    for key in STORE_INDEXES:
        opened.update(edge.UpdateOperation.create_field_index(key, index_of(key)))
    for same in by_source(records, 256):
        batch = stored_batch(same, hashing().of(same[0].source))
        place = StorePlace("a test", "none")
        identity = identity.admitting(batch.source, batch.model, batch.dimensions, place)
        for model in identity.models.values():
            opened.update(model_vector(model))
        vector = identity.vector_for(batch.model) or ""
        points = [
            edge.Point(
                point.id,
                {
                    "bm25": edge.SparseVector(point.keywords.indices, point.keywords.values),
                    vector: list(point.dense or ()),
                },
                dict(point.payload),
            )
            for point in batch.points
        ]
        opened.update(edge.UpdateOperation.upsert_points(points))
    opened.close()
    meta = {"schema": 3, "keywords": KEYWORD_MODEL, **identity.as_meta()}
    (shard / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    return identity.id


if __name__ == "__main__":
    with EmbeddedStore(Path(sys.argv[1]), hashing()).hold():
        sys.stdout.write("converted\n")
