"""What a plugin's embedding model looks like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DenseModel(Protocol):
    """Makes dense vectors; a plugin gives one by `contextkit_embedder`.

    Its methods may be called from any thread, several at a time, and block. Vectors need
    not be of unit length. What a method raises costs the vectors that it would have made:
    records are stored and searched by their keywords then, and the model is tried again
    after a while. A text may be longer than what the model reads: the model cuts it. Texts
    without a word are not given to it.

    Attributes:
        name: what a store remembers, for instance `fastembed:all-MiniLM-L6-v2`: vectors of
            models of the same name are compared with each other.
        dimensions: numbers in each vector, 1 to 65,536.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text of a record, shape (n, `dimensions`); at most 32 texts."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A query's vector, shape (`dimensions`,)."""
