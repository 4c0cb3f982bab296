"""The form of a Qdrant collection: its vectors, and the settings for clusters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from qdrant_client import models

from contextkit.config.sections import StoreSettings
from contextkit.store.base import BM25
from contextkit.store.identity import StoredModel

_COPIES = ("replication_factor", "write_consistency_factor")


def server_schema(dense: Iterable[StoredModel], settings: StoreSettings) -> dict[str, Any]:
    """Arguments of `create_collection`, with these models' dense vectors."""
    return {
        "vectors_config": {
            model.vector: models.VectorParams(
                size=model.dimensions,
                distance=models.Distance.COSINE,
                on_disk=settings.vectors_on_disk,
            )
            for model in dense
        },
        "sparse_vectors_config": {BM25: _sparse(settings.vectors_on_disk)},
        "shard_number": settings.shard_number,
        **{name: getattr(settings, name) for name in _COPIES},
    }


def server_vector(model: StoredModel) -> models.DenseVectorNameConfig:
    """The configuration that adds a model's vectors to a collection."""
    return models.DenseVectorNameConfig(
        dense=models.DenseVectorConfig(size=model.dimensions, distance=models.Distance.COSINE)
    )


def changed_form(info: models.CollectionInfo, settings: StoreSettings) -> dict[str, Any]:
    """Arguments of `update_collection` for the settings that the collection differs from.

    Settings that are unset change nothing. The number of shards cannot be changed.
    """
    params, on_disk = info.config.params, settings.vectors_on_disk
    copies = {
        name: wanted
        for name in _COPIES
        if (wanted := getattr(settings, name)) is not None and wanted != getattr(params, name)
    }
    changes: dict[str, Any] = {}
    if copies:
        changes["collection_params"] = models.CollectionParamsDiff(**copies)
    dense = params.vectors if isinstance(params.vectors, dict) else {}
    moved = [name for name, each in dense.items() if bool(each.on_disk) is not on_disk]
    if on_disk is not None and moved:
        changes["vectors_config"] = {
            name: models.VectorParamsDiff(on_disk=on_disk) for name in moved
        }
        changes["sparse_vectors_config"] = {BM25: _sparse(on_disk)}
    return changes


def _sparse(on_disk: bool | None) -> models.SparseVectorParams:
    index = None if on_disk is None else models.SparseIndexParams(on_disk=on_disk)
    return models.SparseVectorParams(modifier=models.Modifier.IDF, index=index)
