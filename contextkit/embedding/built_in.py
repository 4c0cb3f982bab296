"""The model that comes with contextkit: WordLlama's packaged table of token vectors.

It is read with `numpy` and `tokenizers` rather than through WordLlama's own loader,
which looks for the tokenizer in another folder and costs ten times the import.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from contextkit.embedding.dense import ModelError
from contextkit.embedding.embedder import Embedder, KeywordsOnly, ModelEmbedder
from contextkit.embedding.static_tokenizer import StaticTokenizer
from contextkit.errors import ConfigError
from contextkit.fork_locks import ForkLock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BUILT_IN", "StaticModel", "find_static_model", "load_embedder"]

BUILT_IN = ("wordllama", "none")
"""What a model may be called that no plugin is asked for."""

_DIMENSIONS = 256
# More than that many tokens have: the tokenizer reads a text whole before it cuts it.
_CHARACTERS = 8_000
_BATCH = 256
_FEW_TEXTS = 8
"""So many texts need too few rows of the table to convert all of it."""

_LENGTH_BYTES = 8
_NUMBERS = {"F16": "<f2", "F32": "<f4"}


@frozen(slots=False, eq=False)
class StaticModel:
    """The mean of static token vectors.

    Attributes:
        folder: WordLlama's package.
        name: what a store remembers.
        dimensions: numbers in each vector.
    """

    folder: Path
    name: str = "wordllama-256"
    dimensions: int = _DIMENSIONS
    _lock: ForkLock = field(factory=ForkLock, init=False, repr=False)

    @cached_property
    def _packed(self) -> NDArray[np.floating[Any]]:
        """The table in the file, of which only what is used is read.

        A safetensors file begins with the length of a description in JSON, then that; the
        places of the numbers count from its end.
        """
        import numpy as np

        path = self.folder / "weights" / "l2_supercat_256.safetensors"
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if length > path.stat().st_size:
                raise ModelError(f"{path} is not a table of vectors")
            described = json.loads(file.read(length))["embedding.weight"]
        begin, _ = described["data_offsets"]
        return np.memmap(
            path,
            dtype=_NUMBERS[described["dtype"]],
            mode="r",
            offset=_LENGTH_BYTES + length + begin,
            shape=tuple(described["shape"]),
        )

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        """The same table, ready to add up: converting it takes longer than a query."""
        import numpy as np

        return np.asarray(self._packed, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> StaticTokenizer:
        return StaticTokenizer(self.folder / "tokenizers" / "l2_supercat_tokenizer_config.json")

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text; a text without tokens gets the zero vector."""
        import numpy as np

        with self._lock:
            table = self._packed if len(texts) <= _FEW_TEXTS else self._table
            tokenizer = self._tokenizer
        vectors = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        cut = [text[:_CHARACTERS] for text in texts]
        for row, ids in enumerate(tokenizer.ids(cut)):
            if ids:
                vectors[row] = table[ids].mean(axis=0, dtype=np.float32)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """A query's vector."""
        vector: NDArray[np.float32] = self.embed_records([text])[0]
        return vector


def find_static_model() -> StaticModel:
    """The model in WordLlama's package; raises `ModelError` where that is not installed."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        raise ModelError("wordllama is not installed")
    return StaticModel(Path(found.origin).parent)


@lru_cache(maxsize=1)
def _static_embedder() -> ModelEmbedder:
    return ModelEmbedder("wordllama", find_static_model, batch=_BATCH, patience=None)


def load_embedder(model: str = "wordllama") -> Embedder:
    """The embedder of a built-in model, `wordllama` or `none`; one per process.

    The model itself is loaded when it is first used.

    Raises `ConfigError` for another name.
    """
    if model == "wordllama":
        return _static_embedder()
    if model == "none":
        return KeywordsOnly()
    raise ConfigError(
        f"'{model}' is not an embedding model; expected one of {', '.join(BUILT_IN)}",
        key="embedding.model",
    )
