"""Embed with sentence-transformers, from a model folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from contextkit.errors import in_words
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.folders import find_folder, fingerprint
from contextkit_embedders.libraries import import_library, require_library
from contextkit_embedders.model_strings import ModelString, Prefixes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_BATCH = 32
_HOW_TO_GET = (
    "get one with SentenceTransformer(NAME).save(FOLDER) in Python, and set the model to "
    "sentence-transformers:FOLDER"
)


@frozen(slots=False, eq=False)
class SentenceTransformersModel:
    """A model in a folder, run by sentence-transformers; downloads nothing.

    The folder's own prompts for queries and documents are used too; they come first.

    Attributes:
        name: identifies the model; it does not depend on the folder's path.
        folder: the folder, as saved by `SentenceTransformer.save`.
        prefixes: the prefixes of texts.
    """

    name: str
    folder: Path
    prefixes: Prefixes
    _loading: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    @cached_property
    def dimensions(self) -> int:
        """Return the length of a vector; loads the model."""
        return len(self.embed_query("dimensions"))

    def embed_records(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector per text.

        Raises `EmbedderError` if the model cannot be run.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return self._encoded(self._model.encode_document, self.prefixes.of_records(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector.

        Raises `EmbedderError` if the model cannot be run.
        """
        return self._encoded(self._model.encode_query, self.prefixes.of_query(text))

    def _encoded(self, encode: Callable[..., Any], texts: str | list[str]) -> NDArray[np.float32]:
        import numpy as np

        try:
            vectors = encode(texts, batch_size=_BATCH, show_progress_bar=False)
        except Exception as error:
            raise self._failed("run", error) from error
        return np.asarray(vectors, dtype=np.float32)

    @property
    def _model(self) -> Any:
        with self._loading:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        library = import_library("sentence_transformers")
        try:
            return library.SentenceTransformer(str(self.folder), local_files_only=True)
        except Exception as error:
            raise self._failed("load", error) from error

    def _failed(self, verb: str, error: Exception) -> EmbedderError:
        return EmbedderError(
            f"sentence-transformers cannot {verb} the model in {self.folder}: {in_words(error)}"
        )


def sentence_transformers_model(string: ModelString) -> SentenceTransformersModel:
    """Return the model of `sentence-transformers:FOLDER`.

    It is loaded with its first text.

    Raises:
        ConfigError: where the folder is not given as an absolute path.
        EmbedderError: where the folder or the library is not there.
    """
    folder = find_folder(string, _HOW_TO_GET)
    require_library("sentence_transformers", "sentence-transformers")
    name = string.prefixes.in_name(f"sentence-transformers:{fingerprint(folder)}")
    return SentenceTransformersModel(name, folder, string.prefixes)
