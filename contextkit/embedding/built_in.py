"""The built-in model: WordLlama's packaged table of token vectors.

It is read with `numpy` and `tokenizers` rather than through WordLlama's own loader, which looks for
the tokenizer in another folder and takes ten times as long to import.

The first short text is split with a part of the tokenizer. Building all of it takes three times as
long as reading its file, and a process that answers one question needs some hundred of its 32,000
tokens.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from contextkit.concurrency import ForkLock
from contextkit.embedding.embedder import Embedder, KeywordsOnly, ModelEmbedder
from contextkit.embedding.model import ModelError
from contextkit.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


_MOST_TOKENS = 512
_SHORT_TEXT = 500
"""Characters of a text from which on picking its tokens is no quicker than building all."""

_SPACE = "▁"
"""What begins every text, and stands for a space in it."""

_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))
"""The tokens of characters that have none of their own."""


@define(eq=False)
class StaticTokenizer:
    """Cuts texts into tokens.

    Attributes:
        file: the tokenizer as the library `tokenizers` writes it.
    """

    file: Path
    _whole: Tokenizer | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False, repr=False)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The tokens' numbers of each text, 512 at most.

        Raises what reading the file raises.
        """
        encoded = self._tokenizer(texts).encode_batch_fast(texts, add_special_tokens=False)
        return [tokens.ids for tokens in encoded]

    def _tokenizer(self, texts: Sequence[str]) -> Tokenizer:
        with self._lock:
            if self._whole is None and not self._asked and sum(map(len, texts)) <= _SHORT_TEXT:
                small = _built(reduced_to(texts, json.loads(self._read())))
                self._asked = True
                return small
            if self._whole is None:
                self._whole = _built(self._read())
            return self._whole

    def _read(self) -> str:
        # Not as text, which would look for line ends in two megabytes.
        return self.file.read_bytes().decode("utf-8")


def reduced_to(texts: Sequence[str], described: Mapping[str, Any]) -> str:
    """A tokenizer that cuts these texts as the described one does, and may cut no others so.

    It has the tokens that are pieces of a text, and the merges that make them: no other can
    come up on the way from single characters to a text's tokens.

    Args:
        texts: short ones; the work grows with their characters.
        described: a byte-pair tokenizer with `▁` for spaces, as the library writes it.
    """
    model = described["model"]
    vocabulary: Mapping[str, int] = model["vocab"]
    longest = max(map(len, vocabulary))
    pieces = {piece for text in texts for piece in _pieces(text.replace(" ", _SPACE), longest)}
    tokens = pieces & vocabulary.keys()
    merges = model["merges"]
    splits = {f"{token[:at]} {token[at:]}" for token in tokens for at in range(1, len(token))}
    always = _BYTES | {token["content"] for token in described["added_tokens"]}
    kept = {
        "vocab": {token: vocabulary[token] for token in tokens | (always & vocabulary.keys())},
        "merges": [m for m, spelt in zip(merges, _spelt(merges), strict=True) if spelt in splits],
    }
    return json.dumps({**described, "model": {**model, **kept}})


def _spelt(merges: Sequence[Any]) -> Iterable[str]:
    """Both halves of each merge, parted by a space; newer files have them as pairs."""
    return merges if merges and isinstance(merges[0], str) else map(" ".join, merges)


def _pieces(text: str, longest: int) -> Iterator[str]:
    """Every part of a text, also as it is where the text, or what follows a marker, begins."""
    for begin in range(len(text)):
        for end in range(begin + 1, min(begin + longest, len(text)) + 1):
            yield text[begin:end]
            yield _SPACE + text[begin:end]
    yield _SPACE


def _built(description: str) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)
    tokenizer.enable_truncation(max_length=_MOST_TOKENS)
    tokenizer.no_padding()
    return tokenizer


BUILT_IN = ("wordllama", "none")
"""What a model may be called that no plugin is asked for."""

# An int8 MiniLM finds half a point of a hundred more of LoCoMo, at 23 MB and 18 ms a query.
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
