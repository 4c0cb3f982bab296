"""The built-in model: WordLlama's table of token vectors.

It is read with `numpy` and `tokenizers`, because WordLlama's own loader looks for the tokenizer
in another folder and takes ten times as long to import.

For the first short text only a reduced tokenizer is built (see `contextkit.embedding.reduced`).
"""

from __future__ import annotations

import importlib.util
import json
import re
from array import array
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from contextkit.concurrency import ForkLock
from contextkit.embedding.embedder import Embedder, KeywordsOnly, ModelEmbedder
from contextkit.embedding.model import ModelError
from contextkit.embedding.reduced import SPACE, TokenGroups
from contextkit.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


_MOST_TOKENS = 512
_SHORT_TEXT = 500
"""Length of texts from which a reduced tokenizer is no longer faster."""

_pieces_of = re.compile(r" *[^ \n]+| +|\n").findall
"""Split where no token can begin before and end after.

No token has a line break beside other characters, or a space behind one.
"""

_ascii_pieces_of = re.compile(r" *(?:[A-Za-z]+|[^ \nA-Za-z0-9]+)|[0-9]| +|\n").findall
"""Split ASCII text into shorter pieces, which recur more often: few need to be tokenized.

No token has an ASCII letter beside a mark, or a digit beside anything.
"""

_CACHED_PIECES = 50_000

BUILT_IN = ("wordllama", "none")
"""Model names that are not looked up in plugins."""

# An int8 MiniLM finds half a percent more on LoCoMo, but has 23 MB and takes 18 ms per query.
_DIMENSIONS = 256
# More than the maximum of tokens needs: the tokenizer splits a whole text before truncating.
_CHARACTERS = 8_000
_BATCH = 256
_FEW_TEXTS = 8
"""For so few texts, converting the whole table is not worthwhile."""

_LENGTH_BYTES = 8
_NUMBERS = {"F16": "<f2", "F32": "<f4"}


@define(eq=False)
class StaticTokenizer:
    """Splits texts into tokens.

    Attributes:
        file: the tokenizer in the format of the `tokenizers` library.
    """

    file: Path
    _whole: _PieceTokenizer | None = field(default=None, init=False)
    _asked: bool = field(default=False, init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False, repr=False)

    def ids(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of each text, at most 512.

        Raises what reading the file raises.
        """
        return self._tokenizer(texts).ids(texts)

    def _tokenizer(self, texts: Sequence[str]) -> _PieceTokenizer:
        with self._lock:
            if self._whole is None and not self._asked and sum(map(len, texts)) <= _SHORT_TEXT:
                small = _PieceTokenizer(_built(TokenGroups.read(self.file).reduced_to(texts)))
                self._asked = True
                return small
            if self._whole is None:
                # Decoded bytes: text mode would search two megabytes for line ends.
                self._whole = _PieceTokenizer(_built(self.file.read_bytes().decode("utf-8")))
            return self._whole


class _PieceTokens(dict[str, bytes]):
    """A cache of the tokens of pieces of text, each token as an `int64`.

    Bytes are joined, and read as numpy's integers, several times faster than lists.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def __missing__(self, piece: str) -> bytes:
        tokens = self._model.tokenize(piece.replace(" ", SPACE))
        ids = self[piece] = array("q", [token.id for token in tokens]).tobytes()
        return ids


@define(eq=False)
class _PieceTokenizer:
    """Splits texts piece by piece, and most pieces only once.

    The library merges a text's characters as if the text were one long word, and remembers
    nothing, which takes twice as long.

    Attributes:
        tokenizer: the tokenizer of whole texts.
    """

    tokenizer: Tokenizer
    _special: Sequence[str] = field(init=False)
    _known: _PieceTokens = field(init=False)

    def __attrs_post_init__(self) -> None:
        added = self.tokenizer.get_added_tokens_decoder().values()
        self._special = [token.content for token in added]
        self._known = _PieceTokens(self.tokenizer.model)

    def ids(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of each text, at most 512."""
        if len(self._known) > _CACHED_PIECES:
            # Other threads may still use the old one.
            self._known = _PieceTokens(self.tokenizer.model)
        known = self._known
        return [self._ids(text, known) for text in texts]

    def _ids(self, text: str, known: _PieceTokens) -> NDArray[np.int64]:
        import numpy as np

        if not text or any(token in text for token in self._special):
            encoded = self.tokenizer.encode(text, add_special_tokens=False)
            return np.array(encoded.ids, dtype=np.int64)
        split = _ascii_pieces_of if text.isascii() else _pieces_of
        pieces = split(f" {text.replace(SPACE, ' ')}")[:_MOST_TOKENS]
        return np.frombuffer(b"".join(map(known.__getitem__, pieces)), np.int64)[:_MOST_TOKENS]


def _built(description: str) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(description)
    tokenizer.enable_truncation(max_length=_MOST_TOKENS)
    tokenizer.no_padding()
    return tokenizer


@frozen(slots=False, eq=False)
class StaticModel:
    """The mean of static token vectors.

    Attributes:
        folder: WordLlama's package.
        name: the name that stores record.
        dimensions: the length of each vector.
    """

    folder: Path
    name: str = "wordllama-256"
    dimensions: int = _DIMENSIONS
    _lock: ForkLock = field(factory=ForkLock, init=False, repr=False)

    @cached_property
    def _packed(self) -> NDArray[np.floating[Any]]:
        """The table in the file, memory-mapped.

        A safetensors file begins with the length of its JSON header and the header; offsets
        count from the header's end.
        """
        import numpy as np

        path = self.folder / "weights" / "l2_supercat_256.safetensors"
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            if length > path.stat().st_size:
                raise ModelError(f"{path} is not a table of vectors: reinstall wordllama")
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
        """The table as float32.

        Converting it takes longer than a query.
        """
        import numpy as np

        return np.asarray(self._packed, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> StaticTokenizer:
        return StaticTokenizer(self.folder / "tokenizers" / "l2_supercat_tokenizer_config.json")

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text.

        A text without tokens gets the zero vector.
        """
        import numpy as np

        with self._lock:
            table = self._packed if len(texts) <= _FEW_TEXTS else self._table
            tokenizer = self._tokenizer
        vectors = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
        tokens = tokenizer.ids([text[:_CHARACTERS] for text in texts])
        for vector, ids in zip(vectors, tokens, strict=True):
            # The same bits as from `mean`, with less overhead.
            np.add.reduce(table.take(ids, axis=0), axis=0, dtype=np.float32, out=vector)
        vectors /= np.array([[max(len(ids), 1)] for ids in tokens], dtype=np.float32)
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a query's vector."""
        vector: NDArray[np.float32] = self.embed_records([text])[0]
        return vector


def find_static_model() -> StaticModel:
    """Find WordLlama's model; raises `ModelError` if it is not installed."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        raise ModelError("wordllama is not installed")
    return StaticModel(Path(found.origin).parent)


@lru_cache(maxsize=1)
def _static_embedder() -> ModelEmbedder:
    return ModelEmbedder("wordllama", find_static_model, batch=_BATCH, timeout=None)


def load_embedder(model: str = "wordllama") -> Embedder:
    """Return the embedder of `wordllama` or `none`; one per process.

    The model itself is loaded on first use.

    Raises `ConfigError` for another name.
    """
    if model == "wordllama":
        return _static_embedder()
    if model == "none":
        return KeywordsOnly()
    raise ConfigError(
        f"expected one of {', '.join(BUILT_IN)}, got '{model}'",
        key="embedding.model",
    )
