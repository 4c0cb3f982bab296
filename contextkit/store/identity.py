"""What a store remembers of itself: its id, its models, and which source has which.

Each model has a named vector of its own, so that vectors of two models are never compared.
A source whose model is another one now is refused rather than searched badly.
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
"""What every named vector of a dense model begins with."""

_READABLE_CHARACTERS = 40


@frozen
class StoredModel:
    """A model whose vectors a store has room for.

    Attributes:
        name: the model's.
        vector: the name of its vectors in the engine.
        dimensions: numbers in each of them.
    """

    name: str
    vector: str
    dimensions: int


def stored_model(name: str, dimensions: int) -> StoredModel:
    """A model with the name that its vectors have in every store."""
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_READABLE_CHARACTERS]
    digest = hashlib.sha256(f"{name}\0{dimensions}".encode()).hexdigest()[:8]
    return StoredModel(name, f"{VECTOR_PREFIX}{readable}-{digest}", dimensions)


@frozen
class StorePlace:
    """How errors call a store, and what helps where its models are not the configured ones."""

    name: str
    remedy: str

    def mismatch(self, source: str, stored: str, wanted: str) -> StoreModelMismatchError:
        """The error of a source whose records have another model's vectors."""
        return StoreModelMismatchError(
            f"{self.name} has vectors of '{stored}' for the source '{source}', the configured "
            f"model is '{wanted}': {self.remedy}"
        )


@frozen
class StoreIdentity:
    """What a store remembers of itself.

    Attributes:
        id: unique; index states belong to it.
        models: model name -> the model; every one whose vectors the store can hold.
        sources: source -> the name of its records' model, `none` for keywords alone.
    """

    id: str
    models: Mapping[str, StoredModel] = field(factory=dict)
    sources: Mapping[str, str] = field(factory=dict)

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> Self:
        """Read it; raises `KeyError`, `TypeError` and the like for what is none."""
        models = [StoredModel(**each) for each in meta["models"].values()]
        return cls(str(meta["id"]), {each.name: each for each in models}, dict(meta["sources"]))

    def as_meta(self) -> dict[str, Any]:
        """JSON that `from_meta` reads."""
        models = {model.vector: asdict(model) for model in self.models.values()}
        return {"id": self.id, "models": models, "sources": dict(self.sources)}

    def admitting(
        self, source: str, model: str | None, dimensions: int | None, place: StorePlace
    ) -> StoreIdentity:
        """The identity of the store once it has records of a source with a model's vectors.

        Args:
            source: the source.
            model: its embedder's name; None where the embedder fails, which says nothing.
            dimensions: of the vectors, where there are any.
            place: for the error.

        Raises:
            StoreModelMismatchError: where the source's records have another model's vectors.
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
        """Raise `StoreModelMismatchError` where the source's records have another model's."""
        stored = self.sources.get(source, model)
        if stored != model:
            raise place.mismatch(source, stored, model)

    def vector_for(self, model: str | None) -> str | None:
        """The engine's name of a model's vectors; None where no record has one."""
        stored = None if model is None else self.models.get(model)
        return None if stored is None else stored.vector

    def vector_of(self, source: str, model: str, dimensions: int, place: StorePlace) -> str | None:
        """The engine's name of a model's vectors; None where no record has one yet.

        Raises `StoreModelMismatchError` where the model's vectors had another length.
        """
        stored = self.models.get(model)
        if stored is not None and stored.dimensions != dimensions:
            lengths = [f"{model} ({d} dimensions)" for d in (stored.dimensions, dimensions)]
            raise place.mismatch(source, *lengths)
        return None if stored is None else stored.vector


def refuse_other_models(identity: StoreIdentity, embedders: Embedders, place: StorePlace) -> None:
    """Raise `StoreModelMismatchError` where a source's model is not that of its records.

    A source that is neither on nor configured, and one whose model cannot be found out, is
    let be.
    """
    for source in sorted(identity.sources):
        embedder = embedders.known(source)
        name = None if embedder is None else embedder.name
        if name is not None:
            identity.refuse_other(source, name, place)


def new_models(before: StoreIdentity, after: StoreIdentity) -> Sequence[StoredModel]:
    """The models that came in between."""
    return [model for name, model in after.models.items() if name not in before.models]
