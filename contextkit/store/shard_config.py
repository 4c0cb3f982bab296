"""The configuration of shards."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import qdrant_edge as edge

from contextkit.files import write_atomically
from contextkit.store.base import BM25

_ORDERED_FROM_KB = 500
"""Size of the vectors from which optimizing a shard halves its opening time."""

_LOG = {"segment_capacity": 2 * 1024 * 1024, "segment_queue_len": 0, "retain_closed": 1}
"""The engine's log: the size of each file, and how many full files it keeps.

It reads the whole log when it opens and keeps it mapped into memory; by default, a file has 32 MiB.
"""


def shard_config() -> edge.EdgeConfig:
    """The schema of a new shard.

    Sources add sparse vectors, and models dense ones; the engine needs one to begin with.

    Dense vectors have no graph. Comparing all of a source's vectors is exact, and fast enough for
    the data of one machine, while building a graph takes a minute for 100,000 vectors and locks
    the store meanwhile. An optimized shard also has each number in two bits, to find the candidates
    (`edge_queries.plan_search`): with 1,000,000 records, an answer takes four fifths of the time.
    """
    return edge.EdgeConfig(
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000),
        quantization_config=edge.TurboQuantQuantizationConfig(
            bits=edge.TurboQuantBitSize.Bits2, memory=edge.Memory.Cached
        ),
        vectors={},
        sparse_vectors={BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_ORDERED_FROM_KB),
    )


def new_shard(shard: Path) -> edge.EdgeShard:
    """Create a shard in a new folder."""
    edge.EdgeShard.create(str(shard), shard_config()).close()
    # Its first files are made before the options can be set.
    shutil.rmtree(shard / "wal")
    set_log_options(shard)
    return edge.EdgeShard.load(str(shard))


def set_log_options(shard: Path) -> None:
    """Write the log's options to the engine's configuration; `edge.EdgeConfig` has none."""
    file = shard / "edge_config.json"
    # If the file is damaged, the engine says so.
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
        config = json.loads(file.read_bytes())
        if config.get("wal_options") != _LOG:
            write_atomically(file, json.dumps({**config, "wal_options": _LOG}))
