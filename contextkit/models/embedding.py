"""The interface of a plugin's embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DenseModel(Protocol):
    """Makes dense vectors; plugins provide models by `contextkit_embedder`.

    Its methods may be called from any thread, concurrently, and may block. Vectors need not be
    of unit length. If a method raises, the records are stored and searched by their keywords
    alone, and the model is tried again after a cool-down. The model must truncate texts that are
    too long for it. Texts without a word are not passed to it.

    Attributes:
        name: the name that stores record, for instance `fastembed:all-MiniLM-L6-v2`; vectors of
            models with the same name are compared with each other.
        dimensions: the length of each vector, 1 to 65,536.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per record text, shape (n, `dimensions`).

        At most 32 texts are passed at a time.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a query's vector, shape (`dimensions`,)."""
