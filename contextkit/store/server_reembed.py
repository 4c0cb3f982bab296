"""Replace the vectors of a server's records by those of the configured models.

The collection stays in use meanwhile. It notes which source moves to which model. Each record
gets the new vector beside the old one: processes with the old model search by it until the end,
and those with the new model search by keywords until then. A move that was killed goes on with
the records that lack the new vector. At the end the old vectors are deleted.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import frozen
from qdrant_client import QdrantClient, models

from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder
from contextkit.errors import StoreError
from contextkit.models.record import Record
from contextkit.store.base import conditions, stored_batch
from contextkit.store.identity import StoredModel, StoreIdentity, stored_model
from contextkit.store.payloads import Damage, Payload, record_checksum
from contextkit.store.reembed import Reembedded
from contextkit.store.reused_vectors import chosen_embedder
from contextkit.store.server import ServerStore
from contextkit.store.server_collection import ServerCollection
from contextkit.store.server_queries import server_filter, server_point
from contextkit.store.server_reading import PointReader, payloads

_BATCH = 256


def reembed_server(
    store: ServerStore,
    embedders: Embedders,
    progress: Callable[[int, int | None], None],
    *,
    redact: Callable[[Sequence[Record]], Sequence[Record]] = list,
) -> Reembedded:
    """Replace all vectors of a server store.

    Args:
        store: the store, with `AnyModels` as embedders.
        embedders: make the new vectors.
        progress: called with the number of records done and the total.
        redact: replaces secrets in the records; default: keeps them as they are.

    Raises `StoreError` if a model cannot make vectors, or the server cannot add vectors.
    """
    with store.opened() as (client, made):
        return ServerReembedding(client, made, embedders, Damage().sound, redact, progress).run()


@frozen
class ServerReembedding:
    """The change of all records of a collection to the configured models.

    Attributes:
        client: reaches the server.
        made: the collection.
        embedders: the configured ones.
        sound: payloads -> the sound records by point; reports damaged ones.
        redact: replaces secrets in the records.
        progress: called with the number of records done and the total.
    """

    client: QdrantClient
    made: ServerCollection
    embedders: Embedders
    sound: Callable[[Iterable[Payload]], Mapping[str, Record]]
    redact: Callable[[Sequence[Record]], Sequence[Record]]
    progress: Callable[[int, int | None], None]

    def run(self) -> Reembedded:
        """Change one source after the other."""
        before = self._identity()
        total = self._reader.count(server_filter([]))
        done = 0
        for source in sorted(before.sources):
            embedder = chosen_embedder(source, before, self.embedders)
            model = self._begin(source, embedder)
            for page in self._pages(source):
                self._redact(page, embedder, model)
                done += len(page)
                self.progress(done, max(done, total))
            # Once more, as long as other processes store records with the old vectors.
            while model is not None and self._fill(source, embedder, model):
                pass
            self._end(source, embedder, model)
        self._delete_unused()
        return Reembedded(done, self._identity().sources)

    def _identity(self) -> StoreIdentity:
        found = self.made.read(self.client)
        if found is None:
            raise StoreError(f"there are no records at {self.made.url} to re-embed")
        return found

    def _begin(self, source: str, embedder: Embedder) -> StoredModel | None:
        """Note the source's new model, and make room for its vectors."""
        name, dimensions = embedder.name, embedder.dimensions
        if name is None:
            raise StoreError(f"{self.made.place.name} cannot be re-embedded: {embedder.problem}")
        identity = self._identity()
        if name != identity.sources[source]:
            self.made.note(self.client, "moving", {source: name})
        if dimensions is None:
            return None
        model = stored_model(name, dimensions)
        known = identity.models.get(name)
        if known is not None and known != model:
            raise StoreError(
                f"{self.made.place.name} has vectors of '{name}' with {known.dimensions} "
                f"dimensions, not {dimensions}: `contextkit store migrate` to another collection"
            )
        if known is None:
            self.made.add_model(self.client, model)
        return model

    def _end(self, source: str, embedder: Embedder, model: StoredModel | None) -> None:
        """Note that the source has its new model, then delete its other vectors."""
        identity = self._identity()
        self.made.note(self.client, "sources", {source: embedder.name})
        self.made.note(self.client, "moving", {source: ""})
        others = [each.vector for each in identity.models.values() if each != model]
        if others:
            selected = server_filter(conditions(source, None, {}))
            self.client.delete_vectors(self.made.name, others, selected, wait=True)

    def _delete_unused(self) -> None:
        """Delete the vectors that no source uses from the collection, if the server can."""
        identity = self._identity()
        used = {*identity.sources.values(), *identity.moving.values()}
        # What is in use elsewhere and has no records yet stays.
        used |= {each.name for each in self.embedders.in_use() if each.name}
        for name, model in identity.models.items():
            if name not in used:
                self.made.drop_model(self.client, model)

    def _pages(self, source: str, lacking: str | None = None) -> Iterator[list[Record]]:
        """Yield a source's records, all of them or those without a vector."""
        selected = server_filter(conditions(source, None, {}))
        if lacking is not None:
            absent = models.HasVectorCondition(has_vector=lacking)
            selected = models.Filter(must=[selected], must_not=[absent])
        points = self._reader.all(selected)
        while page := list(itertools.islice(points, self.made.limits.points(_BATCH))):
            yield list(self.sound(payloads(page)).values())

    @property
    def _reader(self) -> PointReader:
        return PointReader(self.client, self.made.name, self.made.limits)

    def _redact(
        self, records: Sequence[Record], embedder: Embedder, model: StoredModel | None
    ) -> None:
        """Store the records again that had secrets, with their new vectors."""
        redacted = self.redact(records)
        changed = [new for old, new in zip(records, redacted, strict=True) if new != old]
        if changed:
            points = self._points(changed, embedder, model)
            self.client.upsert(self.made.name, points, wait=True)

    def _fill(self, source: str, embedder: Embedder, model: StoredModel) -> int:
        """Give the records their new vector that lack it; return their number."""
        filled = 0
        for records in self._pages(source, model.vector):
            points = [
                models.PointVectors(id=point.id, vector=point.vector)
                for point in self._points(records, embedder, model)
                # A record without any word has none.
                if isinstance(point.vector, dict) and model.vector in point.vector
            ]
            if points:
                self.client.update_vectors(self.made.name, points, wait=True)
                self._take_back(records, model)
            filled += len(points)
        return filled

    def _take_back(self, records: Sequence[Record], model: StoredModel) -> None:
        """Delete the vectors of records that another process has replaced meanwhile."""
        known = {record.point_id: record_checksum(record) for record in records}
        points = self.client.retrieve(self.made.name, list(known), with_payload=["checksum"])
        changed = [p.id for p in points if (p.payload or {}).get("checksum") != known[str(p.id)]]
        if changed:
            self.client.delete_vectors(self.made.name, [model.vector], list(changed), wait=True)

    def _points(
        self, records: Sequence[Record], embedder: Embedder, model: StoredModel | None
    ) -> list[models.PointStruct]:
        if not records:
            return []
        batch = stored_batch(records, embedder)
        if embedder.problem is not None or batch.model is None:
            raise StoreError(
                f"{self.made.place.name} cannot be re-embedded: {embedder.problem}; correct that "
                f"and run the command again, it goes on where it stopped"
            )
        vector = None if model is None else model.vector
        return [server_point(point, vector) for point in batch.points]
