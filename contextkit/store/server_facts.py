"""The state of a Qdrant server and of its collection, for `contextkit doctor`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from attrs import Factory, frozen
from qdrant_client import QdrantClient, models

from contextkit.store.server_errors import SERVER_ERRORS
from contextkit.store.server_limits import ServerLimits, ServerVersion

_ACTIVE = "Active"


@frozen(kw_only=True)
class ServerFacts:
    """What a server says about itself and its collection.

    Attributes:
        version: the server's, such as `1.19.0`; None if unknown.
        missing: one sentence on what this version lacks; None if nothing.
        collection: the collection's name.
        status: `green`; `yellow` while it is optimized; `grey` if an optimization is due; `red`
            after a failure.
        optimizer_error: why optimizing failed; None if it works.
        points: records, approximately.
        segments: segments of all shards on the node that answered.
        shards: shards of the collection.
        replication_factor: wanted copies of each shard.
        write_consistency_factor: copies that must confirm a write.
        replicas: state -> shard copies in it, such as `Active` or `Dead`; empty if unknown.
        vectors_on_disk: whether all dense vectors stay on disk.
        indexes: payload key -> type of its index.
        limits: strict mode's limits, as Qdrant names them; empty without strict mode.
    """

    version: str | None
    missing: str | None
    collection: str
    status: str
    optimizer_error: str | None
    points: int
    segments: int
    shards: int
    replication_factor: int
    write_consistency_factor: int
    replicas: Mapping[str, int] = Factory(dict)
    vectors_on_disk: bool = False
    indexes: Mapping[str, str] = Factory(dict)
    limits: Sequence[str] = ()

    @property
    def inactive_replicas(self) -> int:
        """Shard copies that do not serve requests."""
        return sum(count for state, count in self.replicas.items() if state != _ACTIVE)


def read_facts(client: QdrantClient, collection: str) -> ServerFacts:
    """Ask the server; raises the client's errors."""
    version = ServerVersion.of(client)
    info = client.get_collection(collection)
    params = info.config.params
    dense = list(params.vectors.values()) if isinstance(params.vectors, dict) else []
    return ServerFacts(
        version=version.name,
        missing=version.missing,
        collection=collection,
        status=str(info.status),
        optimizer_error=getattr(info.optimizer_status, "error", None),
        points=info.points_count or 0,
        segments=info.segments_count,
        shards=params.shard_number or 1,
        replication_factor=params.replication_factor or 1,
        write_consistency_factor=params.write_consistency_factor or 1,
        replicas=_replicas(client, collection),
        vectors_on_disk=bool(dense) and all(vector.on_disk for vector in dense),
        indexes={key: str(index.data_type) for key, index in sorted(info.payload_schema.items())},
        limits=ServerLimits.of(info).described,
    )


def _replicas(client: QdrantClient, collection: str) -> Mapping[str, int]:
    """Count the shard copies by state; empty if the API key may not see them."""
    try:
        cluster = client.collection_cluster_info(collection)
    except (NotImplementedError, *SERVER_ERRORS):
        return {}
    shards: list[models.LocalShardInfo | models.RemoteShardInfo] = [
        *cluster.local_shards,
        *cluster.remote_shards,
    ]
    return Counter(str(shard.state) for shard in shards)
