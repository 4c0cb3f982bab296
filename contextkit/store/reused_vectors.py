"""Embedders for stores that are copied or rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import Factory, define, field, frozen

from contextkit.embedding.choice import Embedders
from contextkit.embedding.embedder import Embedder, KeywordsOnly
from contextkit.store.identity import StoreIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEYWORDS_ONLY = KeywordsOnly().name
"""The name of the model without vectors."""


@define(eq=False)
class ReusedVectors:
    """An embedder that has the old store's vectors and makes the others.

    Attributes:
        embedder: makes them.
        known: searched text -> its vector, for the records of one batch.
    """

    embedder: Embedder
    known: dict[str, Sequence[float]] = Factory(dict)

    @property
    def name(self) -> str | None:
        """The model's name, as stores record it; None if unknown."""
        return self.embedder.name

    @property
    def dimensions(self) -> int | None:
        """The length of each vector; None if there are none or it is unknown."""
        return self.embedder.dimensions

    @property
    def problem(self) -> str | None:
        """Why it makes no vectors although it should, or None."""
        return self.embedder.problem

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return one unit vector per text; None without a working model."""
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self.known]
        if missing:
            made = self.embedder.dense(missing)
            if made is None:
                return None
            self.known.update(zip(missing, made.tolist(), strict=True))
        return np.array([self.known[text] for text in texts], dtype=np.float32)

    def query(self, text: str) -> list[float] | None:
        """Return a query's unit vector, or None."""
        return self.embedder.query(text)


@define(eq=False)
class ReusingEmbedders:
    """The embedders of the new store.

    Attributes:
        embedders: the configured ones.
        before: the old store's identity.
    """

    embedders: Embedders
    before: StoreIdentity | None = None
    _made: dict[str, ReusedVectors] = field(factory=dict, init=False)

    def of(self, source: str) -> ReusedVectors:
        """The embedder of a source's records.

        A source that is not installed keeps its records without vectors, if they have none.
        """
        if source not in self._made:
            self._made[source] = ReusedVectors(chosen_embedder(source, self.before, self.embedders))
        return self._made[source]

    def known(self, source: str) -> Embedder | None:
        """The embedder of an enabled or configured source, else None."""
        return self.embedders.known(source)

    def in_use(self) -> Sequence[Embedder]:
        """The embedders of the enabled sources, without duplicates."""
        return self.embedders.in_use()

    @property
    def problem(self) -> str | None:
        """Describe the failures of the used embedders, or None."""
        return self.embedders.problem


@frozen
class AnyModels:
    """Embedders that let a store open whatever models it was made with.

    Attributes:
        embedders: the configured ones.
    """

    embedders: Embedders

    def of(self, source: str) -> Embedder:
        """The embedder of a source's records."""
        return self.embedders.of(source)

    def known(self, source: str) -> None:
        """None, so that no source's model is compared."""

    def in_use(self) -> Sequence[Embedder]:
        """No embedder, so that none is added to the store."""
        return []

    @property
    def problem(self) -> str | None:
        """Describe the failures of the used embedders, or None."""
        return self.embedders.problem


def chosen_embedder(source: str, before: StoreIdentity | None, embedders: Embedders) -> Embedder:
    """The embedder of a source's records in a rewritten store.

    A source that is not installed gets the default model, or none if its records had none.
    """
    chosen = embedders.of(source)
    stored = None if before is None else before.sources.get(source)
    if embedders.known(source) is None and stored == KEYWORDS_ONLY:
        return KeywordsOnly()
    return chosen
