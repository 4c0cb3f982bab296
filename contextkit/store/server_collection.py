"""The collection of a server store: how it is made, known again, and given more vectors."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreError
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
from contextkit.store.server_queries import META_POINT, server_index, server_schema, server_vector


@frozen
class ServerCollection:
    """One collection of a Qdrant server, in the hands of whatever client is passed.

    Attributes:
        name: the collection's.
        url: what errors call the server.
        indexed_fields: source -> the record fields that its filters use.
    """

    name: str
    url: str
    indexed_fields: Mapping[str, Sequence[str]]

    @property
    def place(self) -> StorePlace:
        """How errors call the store."""
        remedy = (
            "set the model back, or `contextkit export` and `contextkit import` into another "
            "store.collection"
        )
        return StorePlace(f"the store at {self.url}", remedy)

    def open(self, client: QdrantClient, embedders: Embedders) -> StoreIdentity:
        """Make the collection where it is not there, see that it is ours, and read it.

        Raises `StoreError` where it is not, and what the client raises.
        """
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
            client.create_collection(self.name, **server_schema(dense))
        except Exception:
            # Another process may have made it in the same moment.
            if not client.collection_exists(self.name):
                raise

    def _checked_vectors(self, client: QdrantClient) -> set[str]:
        """The collection's dense vectors, once its schema is known to be one of ours."""
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
                f"the collection '{self.name}' at {self.url} is not one of contextkit's: "
                f"choose another name in store.collection"
            )
        if not _is_local(client):
            fields = sorted({f"fields.{n}" for each in self.indexed_fields.values() for n in each})
            for key in ("scope", "created_at", *fields):
                if key not in info.payload_schema:
                    client.create_payload_index(self.name, key, server_index(key), wait=True)
        return set(dense) if isinstance(dense, dict) else set()

    def read(self, client: QdrantClient) -> StoreIdentity | None:
        """What the collection remembers of itself; None where nobody wrote it yet."""
        found = client.retrieve(self.name, [META_POINT], with_payload=True)
        if not found:
            return None
        meta = found[0].payload or {}
        if (meta.get("schema"), meta.get("keyword_model")) != (SCHEMA_VERSION, KEYWORD_MODEL):
            raise StoreError(
                f"another version of contextkit made the collection '{self.name}' at "
                f"{self.url}: choose another name in store.collection, then `contextkit import` "
                f"what that version exports"
            )
        return StoreIdentity.from_meta(meta)

    def _leave_identity(self, client: QdrantClient, dense: Iterable[StoredModel]) -> StoreIdentity:
        """Write the identity unless another process just did; return the one that is there."""
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
        """Note which model a source has, and make room for its vectors; the new identity.

        Raises `StoreModelMismatchError` where the source's records have another model's
        vectors, and `StoreError` where the server cannot add vectors to a collection.
        """

        def admitting(identity: StoreIdentity) -> StoreIdentity:
            return identity.admitting(batch.source, batch.model, batch.dimensions, self.place)

        if admitting(before) == before:
            return before
        # Another process may have been first.
        before = self.read(client) or before
        after = admitting(before)
        for model in new_models(before, after):
            self._add_vector(client, model)
        added, meta = before.as_meta(), after.as_meta()
        for key in ("models", "sources"):
            news = {name: each for name, each in meta[key].items() if name not in added[key]}
            if news:
                client.set_payload(self.name, news, points=[META_POINT], key=key, wait=True)
        return after

    def _add_vector(self, client: QdrantClient, model: StoredModel) -> None:
        """Make a named vector; what is older than Qdrant 1.18 has no way to."""
        try:
            client.create_vector_name(self.name, model.vector, server_vector(model), wait=True)
        except (AttributeError, UnexpectedResponse) as error:
            if model.vector not in self._checked_vectors(client):
                raise StoreError(
                    f"{self.place.name} takes no vectors of '{model.name}' in the collection that "
                    f"is there: use Qdrant and qdrant-client 1.18 or later, or another "
                    f"store.collection"
                ) from error


def _is_local(client: QdrantClient) -> bool:
    """Whether the client has its data in this process, where indexes do nothing but warn."""
    options = client.init_options
    return options.get("location") == ":memory:" or options.get("path") is not None


def _insert_only() -> dict[str, Any]:
    mode = getattr(models, "UpdateMode", None)
    return {} if mode is None else {"update_mode": mode.INSERT_ONLY}
