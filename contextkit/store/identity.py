"""A store's identity: id, models, and each source's model.

Each model has its own named vector, so that vectors of two models are never compared. A search
of a source whose model has changed is refused, because its results would be poor.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from attrs import asdict, evolve, field, frozen

from contextkit.embedding.choice import Embedders
from contextkit.errors import StoreModelMismatchError

VECTOR_PREFIX = "dense-"
"""The prefix of every dense model's named vector."""

_READABLE_CHARACTERS = 40


@frozen
class StoredModel:
    """A model whose vectors a store can hold.

    Attributes:
        name: the model's.
        vector: the name of its vectors in the engine.
        dimensions: the length of each vector.
    """

    name: str
    vector: str
    dimensions: int


def stored_model(name: str, dimensions: int) -> StoredModel:
    """Build a model with its vector name."""
    return StoredModel(name, VECTOR_PREFIX + vector_name(name, f"{name}\0{dimensions}"), dimensions)


def vector_name(name: str, unique: str) -> str:
    """Build a name for vectors, which is also that of a folder.

    Args:
        name: the name for readers.
        unique: text that no other vectors share.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_READABLE_CHARACTERS]
    digest = hashlib.sha256(unique.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable}-{digest}"


@frozen
class StorePlace:
    """A store's name in errors, and its remedy."""

    name: str
    remedy: str

    def mismatch(self, source: str, stored: str, wanted: str) -> StoreModelMismatchError:
        """The error for records with another model's vectors."""
        return StoreModelMismatchError(
            f"{self.name} has vectors of '{stored}' for the source '{source}', but the configured "
            f"model is '{wanted}': {self.remedy}"
        )


@frozen
class StoreIdentity:
    """The data that a store keeps about itself.

    Attributes:
        id: unique; index states refer to it.
        models: model name -> the model, for all models whose vectors the store can hold.
        sources: source -> the model of its records, `none` for keywords alone.
        moving: source -> the model that its records are getting, on a server.
    """

    id: str
    models: Mapping[str, StoredModel] = field(factory=dict)
    sources: Mapping[str, str] = field(factory=dict)
    moving: Mapping[str, str] = field(factory=dict)

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> Self:
        """Read the identity.

        Raises `KeyError`, `TypeError` and the like if invalid.
        """
        models = [StoredModel(**each) for each in meta["models"].values()]
        moving = {source: model for source, model in meta.get("moving", {}).items() if model}
        known = {each.name: each for each in models}
        return cls(str(meta["id"]), known, dict(meta["sources"]), moving)

    def as_meta(self) -> dict[str, Any]:
        """The JSON that `from_meta` reads."""
        models = {model.vector: asdict(model) for model in self.models.values()}
        return {"id": self.id, "models": models, "sources": dict(self.sources)}

    def admitting(
        self, source: str, model: str | None, dimensions: int | None, place: StorePlace
    ) -> StoreIdentity:
        """The identity after storing records with this model.

        Args:
            source: the source.
            model: its embedder's name; None if the embedder fails, which changes nothing.
            dimensions: of the vectors, if there are any.
            place: the store, for the error.

        Raises:
            StoreModelMismatchError: the source's records have another model's vectors.
        """
        if model is None:
            return self
        self.refuse_other(source, model, place)
        if dimensions is not None and model not in self.models:
            added = {**self.models, model: stored_model(model, dimensions)}
            return evolve(self, models=added, sources={**self.sources, source: model})
        if dimensions is not None:
            self.vector_of(source, model, dimensions, place)
        if source in self.sources:
            return self
        return evolve(self, sources={**self.sources, source: model})

    def refuse_other(self, source: str, model: str, place: StorePlace) -> None:
        """Raise `StoreModelMismatchError` if the source has another model's records."""
        stored = self.sources.get(source, model)
        if model not in (stored, self.moving.get(source)):
            raise place.mismatch(source, stored, model)

    @property
    def unfinished(self) -> str | None:
        """Describe the change of models that is not finished, or None."""
        changes = [f"'{source}' to '{model}'" for source, model in sorted(self.moving.items())]
        if not changes:
            return None
        return (
            f"the vectors of {', '.join(changes)} are not complete: until `contextkit reembed` is "
            f"done, search uses keywords alone with that model"
        )

    def is_incomplete(self, source: str, model: str | None) -> bool:
        """Whether some of a source's records have no vector of this model yet."""
        return model is not None and self.sources.get(source, model) != model

    def vector_for(self, model: str | None) -> str | None:
        """The engine's name of a model's vectors.

        Returns None if no record has one.
        """
        stored = None if model is None else self.models.get(model)
        return None if stored is None else stored.vector

    def vector_of(self, source: str, model: str, dimensions: int, place: StorePlace) -> str | None:
        """The engine's name of a model's vectors.

        Returns None if no record has one.

        Raises `StoreModelMismatchError` if the model's stored vectors have another length.
        """
        stored = self.models.get(model)
        if stored is not None and stored.dimensions != dimensions:
            lengths = [f"{model} ({d} dimensions)" for d in (stored.dimensions, dimensions)]
            raise place.mismatch(source, *lengths)
        return None if stored is None else stored.vector


def refuse_other_models(identity: StoreIdentity, embedders: Embedders, place: StorePlace) -> None:
    """Raise `StoreModelMismatchError` if a source's model has changed.

    Sources that are neither enabled nor configured, and sources whose model is unknown, are
    not checked.
    """
    for source in sorted(identity.sources):
        embedder = embedders.known(source)
        name = None if embedder is None else embedder.name
        if name is not None:
            identity.refuse_other(source, name, place)


def new_models(before: StoreIdentity, after: StoreIdentity) -> Sequence[StoredModel]:
    """The models that `after` has and `before` lacks."""
    return [model for name, model in after.models.items() if name not in before.models]
