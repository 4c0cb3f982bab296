"""Create, check and extend the collection of a server store."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import grpc
from attrs import asdict, define, field
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from contextkit.config.sections import StoreSettings
from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
from contextkit.logs import get_logger
from contextkit.store.base import BM25, KEYWORD_MODEL, SCHEMA_VERSION, StoredBatch
from contextkit.store.identity import (
    VECTOR_PREFIX,
    StoredModel,
    StoreIdentity,
    StorePlace,
    new_models,
    refuse_other_models,
    stored_model,
)
from contextkit.store.server_indexes import BASE_INDEXES, ServerIndexes
from contextkit.store.server_limits import ServerLimits, ServerVersion
from contextkit.store.server_queries import META_POINT
from contextkit.store.server_schema import changed_form, server_schema, server_vector

_log = get_logger(__name__)


@define(eq=False)
class ServerCollection:
    """One collection of a Qdrant server.

    Each method takes the client.

    Attributes:
        name: the collection's.
        url: the server's name in errors.
        indexed_fields: source -> the record fields that its filters use.
        settings: the form of the collection.
        strict: whether the server refused a filter without an index, which its settings may
            not tell.
        version: the server's, once the collection is open.
        indexes: of the open collection.
    """

    name: str
    url: str
    indexed_fields: Mapping[str, Sequence[str]]
    settings: StoreSettings = field(factory=StoreSettings)
    strict: bool = field(default=False, init=False)
    version: ServerVersion = field(factory=ServerVersion, init=False)
    indexes: ServerIndexes = field(init=False)

    @indexes.default
    def _unknown(self) -> ServerIndexes:
        return ServerIndexes(self.name, {}, ServerLimits(), self.indexed_fields)

    @property
    def limits(self) -> ServerLimits:
        """What strict mode allows."""
        return self.indexes.limits

    @property
    def place(self) -> StorePlace:
        """The store's name and remedy for errors."""
        return StorePlace(
            f"the store at {self.url}", "run `contextkit reembed`, or set the model back"
        )

    def open(self, client: QdrantClient, embedders: Embedders) -> StoreIdentity:
        """Create or check the collection and read its identity.

        Raises `StoreError` if the schema is not contextkit's or the server is too old, and the
        client's own errors.
        """
        self.version = ServerVersion.of(client)
        self.version.refuse_too_old(self.place.name)
        if self.version.missing:
            _log.warning("server_outdated", url=self.url, reason=self.version.missing)
        models_in_use = [
            stored_model(each.name, each.dimensions)
            for each in embedders.in_use()
            if each.name is not None and each.dimensions is not None
        ]
        if not client.collection_exists(self.name):
            self._create(client, models_in_use)
        vectors = self._checked_vectors(client)
        identity = self.read(client) or self._leave_identity(
            client, [model for model in models_in_use if model.vector in vectors]
        )
        refuse_other_models(identity, embedders, self.place)
        return identity

    def _create(self, client: QdrantClient, dense: Iterable[StoredModel]) -> None:
        try:
            client.create_collection(self.name, **server_schema(dense, self.settings))
        except Exception:
            # Another process may have created it at the same moment.
            if not client.collection_exists(self.name):
                raise

    def _checked_vectors(self, client: QdrantClient) -> set[str]:
        """Check the collection's schema, complete it, and return its dense vectors."""
        info = client.get_collection(self.name)
        dense, sparse = info.config.params.vectors, info.config.params.sparse_vectors or {}
        fits = (
            isinstance(dense, dict)
            and all(name.startswith(VECTOR_PREFIX) for name in dense)
            and BM25 in sparse
            and sparse[BM25].modifier == models.Modifier.IDF
        )
        if not fits:
            raise StoreError(
                f"the collection '{self.name}' at {self.url} was not made by contextkit: "
                f"set store.collection to another name"
            )
        if not _is_local(client):
            self._complete(client, info)
        return set(dense) if isinstance(dense, dict) else set()

    def _complete(self, client: QdrantClient, info: models.CollectionInfo) -> None:
        """Make the indexes that every collection has, and apply changed settings."""
        types = {key: str(index.data_type) for key, index in info.payload_schema.items()}
        for key, index in BASE_INDEXES.items():
            if key not in types:
                client.create_payload_index(self.name, key, index, wait=True)
                types[key] = "datetime" if key == "created_at" else "keyword"
        limits = ServerLimits.of(info, refuses=self.strict)
        self.indexes = ServerIndexes(self.name, types, limits, self.indexed_fields)
        if changes := changed_form(info, self.settings):
            client.update_collection(self.name, **changes)
        wanted, shards = self.settings.shard_number, info.config.params.shard_number or 1
        if wanted is not None and wanted != shards:
            _log.warning("shards_not_changed", collection=self.name, wanted=wanted, shards=shards)

    def read(self, client: QdrantClient) -> StoreIdentity | None:
        """Read the collection's identity; None before the first write."""
        found = client.retrieve(self.name, [META_POINT], with_payload=True)
        if not found:
            return None
        meta = found[0].payload or {}
        if (meta.get("schema"), meta.get("keyword_model")) != (SCHEMA_VERSION, KEYWORD_MODEL):
            raise StoreError(
                f"another version of contextkit made the collection '{self.name}' at "
                f"{self.url}: set store.collection to another name, then `contextkit import` an "
                f"export made by that version"
            )
        return StoreIdentity.from_meta(meta)

    def _leave_identity(self, client: QdrantClient, dense: Iterable[StoredModel]) -> StoreIdentity:
        """Write the identity unless another process was first.

        Return the stored one.
        """
        identity = StoreIdentity(uuid.uuid4().hex, {model.name: model for model in dense})
        meta = models.PointStruct(
            id=META_POINT,
            vector={},
            payload={
                "schema": SCHEMA_VERSION,
                "keyword_model": KEYWORD_MODEL,
                **identity.as_meta(),
            },
        )
        client.upsert(self.name, [meta], wait=True, **_insert_only())
        written = self.read(client)
        if written is None:
            raise StoreError(f"the store at {self.url} did not keep what was written to it")
        return written

    def admit(
        self, client: QdrantClient, before: StoreIdentity, batch: StoredBatch
    ) -> StoreIdentity:
        """Record a source's model and add its vectors.

        Return the new identity.

        Raises `StoreModelMismatchError` if the source's records have another model's vectors, and
        `StoreError` if the server cannot add vectors to a collection.
        """

        def admitting(identity: StoreIdentity) -> StoreIdentity:
            return identity.admitting(batch.source, batch.model, batch.dimensions, self.place)

        if admitting(before) == before:
            return before
        # Another process may have changed it first.
        before = self.read(client) or before
        after = admitting(before)
        for model in new_models(before, after):
            self._add_vector(client, model)
        added, meta = before.as_meta(), after.as_meta()
        for key in ("models", "sources"):
            news = {name: each for name, each in meta[key].items() if name not in added[key]}
            if news:
                self.note(client, key, news)
        return after

    def note(self, client: QdrantClient, key: str, values: Mapping[str, Any]) -> None:
        """Change some of the identity's values."""
        client.set_payload(self.name, dict(values), points=[META_POINT], key=key, wait=True)

    def add_model(self, client: QdrantClient, model: StoredModel) -> None:
        """Make room for a model's vectors, and note it."""
        self._add_vector(client, model)
        self.note(client, "models", {model.vector: asdict(model)})

    def drop_model(self, client: QdrantClient, model: StoredModel) -> None:
        """Delete a model's vectors and forget it; a server that cannot keeps them."""
        with contextlib.suppress(AttributeError, UnexpectedResponse, grpc.RpcError):
            client.delete_vector_name(self.name, model.vector, wait=True)
            client.delete_payload(
                self.name, [f'models."{model.vector}"'], points=[META_POINT], wait=True
            )

    def _add_vector(self, client: QdrantClient, model: StoredModel) -> None:
        """Add a named vector; servers older than Qdrant 1.18 cannot."""
        try:
            client.create_vector_name(self.name, model.vector, server_vector(model), wait=True)
        except (AttributeError, UnexpectedResponse, grpc.RpcError) as error:
            if model.vector not in self._checked_vectors(client):
                raise StoreError(
                    f"{self.place.name} cannot add vectors of '{model.name}' to its collection: "
                    f"use Qdrant and qdrant-client 1.18 or later, or `contextkit store migrate` "
                    f"to another collection"
                ) from error
        if self.settings.vectors_on_disk is not None:
            # Only an update can say where new vectors are kept.
            self._checked_vectors(client)


def _is_local(client: QdrantClient) -> bool:
    """Whether the data are in this process.

    Indexes only cause warnings there.
    """
    options = client.init_options
    return options.get("location") == ":memory:" or options.get("path") is not None


def _insert_only() -> dict[str, Any]:
    mode = getattr(models, "UpdateMode", None)
    return {} if mode is None else {"update_mode": mode.INSERT_ONLY}
