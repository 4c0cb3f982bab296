"""The cache of queries' vectors, which processes with one Redis share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from contextkit.caching.keys import key_of
from contextkit.caching.levels import Kind, Levels
from contextkit.caching.stats import Counting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["QueryVectors"]

_FORM = "<f4"


@define(eq=False)
class QueryVectors:
    """Vectors as numbers of 32 bits, the lowest byte first.

    Attributes:
        levels: where they are kept.
        kind: for how long.
        counting: counts the hits.
    """

    levels: Levels
    kind: Kind
    counting: Counting = field(factory=Counting)

    def get(self, model: str, dimensions: int, text: str) -> NDArray[np.float32] | None:
        """A query's vector of a model, or None; blocks."""
        import numpy as np

        kept = self.levels.get_blocking(self.kind, key_of([model, dimensions, text]))
        if kept is not None and len(kept) == dimensions * np.dtype(_FORM).itemsize:
            vector = np.frombuffer(kept, _FORM).astype(np.float32)
            if np.isfinite(vector).all():
                self.counting.hit()
                return vector
        self.counting.missed()
        return None

    def keep(self, model: str, text: str, vector: NDArray[np.float32]) -> None:
        """Keep a query's vector; blocks."""
        key = key_of([model, len(vector), text])
        self.levels.keep_blocking(self.kind, key, vector.astype(_FORM).tobytes())
