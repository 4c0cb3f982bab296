"""Text to vectors: BM25's sparse ones for every record, dense ones by a static model.

Both work offline and without a download. The dense model is WordLlama's packaged table of
token vectors, read with `safetensors` and `tokenizers` rather than through its own loader,
which looks for the tokenizer in another folder and costs ten times the import.
"""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Hashable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import structlog
from attrs import field, frozen

from contextkit.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "DIMENSIONS",
    "MODELS",
    "Embedder",
    "KeywordVector",
    "embed_keywords",
    "embed_keywords_query",
    "load_embedder",
]

DIMENSIONS = 256
MODELS = ("wordllama", "none")

_KEYWORD_CHARACTERS = 200_000
_TOKENS_PER_TEXT = 512
# More than that many tokens have: the tokenizer reads a text whole before it cuts it.
_DENSE_CHARACTERS = 8_000
_BATCH = 256
_FIRST_CJK = "\u2e80"

_log = structlog.get_logger(__name__)


@frozen
class KeywordVector:
    """A sparse vector: token ids and their weights, of equal length."""

    indices: list[int]
    values: list[float]


class Embedder(Hashable, Protocol):
    """Makes the dense vectors of a store.

    Attributes:
        name: which model made the vectors; a store remembers it.
        problem: why it makes none although it should, in words, or None.
    """

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> str | None: ...

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """One unit vector per text, shape (n, `DIMENSIONS`); None when there is no model."""


@frozen
class KeywordsOnly:
    """The embedder that makes no dense vectors: search is BM25 alone."""

    problem: str | None = None
    name: str = "none"

    def dense(self, texts: Sequence[str]) -> None:
        """Make none, whatever the texts."""


@frozen(slots=False, eq=False)
class StaticEmbedder:
    """The mean of static token vectors, from WordLlama's packaged 256-dimensional table."""

    folder: Path
    name: str = "wordllama-256"
    problem: None = None
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        import numpy as np
        from safetensors import safe_open

        with safe_open(self.folder / "weights" / "l2_supercat_256.safetensors", "np") as tensors:
            return np.asarray(tensors.get_tensor("embedding.weight"), dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(
            str(self.folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        )
        tokenizer.enable_truncation(max_length=_TOKENS_PER_TEXT)
        tokenizer.no_padding()
        return tokenizer

    def dense(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text; a text without tokens gets the zero vector."""
        import numpy as np

        with self._lock:
            table, tokenizer = self._table, self._tokenizer
        vectors = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [text[:_DENSE_CHARACTERS] for text in texts[start : start + _BATCH]]
            for row, encoded in enumerate(
                tokenizer.encode_batch_fast(batch, add_special_tokens=False), start
            ):
                if encoded.ids:
                    vectors[row] = table[encoded.ids].mean(axis=0)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors


@lru_cache(maxsize=4)
def load_embedder(model: str = "wordllama") -> Embedder:
    """The embedder for a model's name, `wordllama` or `none`; one per process.

    Where WordLlama is not installed (it has no wheel for Linux on Arm) the embedder makes
    no dense vectors, says so in the log once, and search goes on with BM25 alone.

    Raises `ConfigError` for a name that is not a model's.
    """
    if model not in MODELS:
        raise ConfigError(
            f"'{model}' is not an embedding model; expected one of {', '.join(MODELS)}",
            key="embedding.model",
        )
    if model == "none":
        return KeywordsOnly()
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        _log.warning("dense_model_missing", model=model, fallback="bm25")
        return KeywordsOnly(problem="wordllama is not installed; search uses keywords alone")
    return StaticEmbedder(Path(found.origin).parent)


@lru_cache(maxsize=2)
def _keyword_model(multilingual: bool) -> Any:
    from qdrant_edge import Bm25, Bm25Config, TokenizerType

    kind = TokenizerType.Multilingual if multilingual else TokenizerType.Code
    return Bm25(Bm25Config(language="english", tokenizer=kind))


def _keyword_model_for(text: str) -> Any:
    # The code tokenizer adds an identifier's parts to its whole; the multilingual one cuts
    # text that is written without spaces into words. Both give a word the same id.
    return _keyword_model(not text.isascii() and max(text) >= _FIRST_CJK)


def embed_keywords(text: str) -> KeywordVector:
    """BM25's vector of a document; beyond 200,000 characters a text is not searched."""
    text = text[:_KEYWORD_CHARACTERS]
    vector = _keyword_model_for(text).embed_document(text)
    return KeywordVector(list(vector.indices), list(vector.values))


def embed_keywords_query(text: str) -> KeywordVector:
    """BM25's vector of a query: every distinct word counts once."""
    text = text[:_KEYWORD_CHARACTERS]
    vector = _keyword_model_for(text).embed_query(text)
    return KeywordVector(list(vector.indices), list(vector.values))
