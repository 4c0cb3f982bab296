"""Embed with fastembed, from a model folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from contextkit.errors import in_words
from contextkit_embedders.errors import EmbedderError
from contextkit_embedders.folders import find_folder, fingerprint
from contextkit_embedders.libraries import import_library, require_library
from contextkit_embedders.model_strings import ModelString, Prefixes
from contextkit_embedders.onnx_folders import model_file, pooling_of, pulled_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# The memory of attention is quadratic in a text's tokens; larger batches are not faster here.
_BATCH = 32
_HOW_TO_GET = (
    "get one with `contextkit models pull NAME FOLDER` and set the model to fastembed:FOLDER"
)
_registering = threading.Lock()


@frozen(slots=False, eq=False)
class FastembedModel:
    """A model in a folder, run by fastembed; downloads nothing.

    Attributes:
        name: identifies the model; it does not depend on the folder's path.
        folder: has the ONNX file, `tokenizer.json` and `tokenizer_config.json`.
        known_as: fastembed's own name for the model, or None where it does not know it.
        pooling: how the tokens' vectors are combined into one; empty if fastembed knows.
        prefixes: the prefixes of texts.
    """

    name: str
    folder: Path
    known_as: str | None
    pooling: str
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

        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        prefixed = self.prefixes.of_records(texts)
        # Texts of similar length are batched together: a batch is as wide as its longest text.
        order = sorted(range(len(texts)), key=lambda position: len(texts[position]))
        in_order = [prefixed[position] for position in order]
        try:
            embedded = self._model.passage_embed(in_order, batch_size=_BATCH)
            for position, vector in zip(order, embedded, strict=True):
                vectors[position] = vector
        except Exception as error:
            raise self._failed("run", error) from error
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the query's vector.

        Raises `EmbedderError` if the model cannot be run.
        """
        import numpy as np

        model = self._model
        try:
            (vector,) = model.query_embed(self.prefixes.of_query(text))
        except Exception as error:
            raise self._failed("run", error) from error
        return np.asarray(vector, dtype=np.float32)

    @property
    def _model(self) -> Any:
        with self._loading:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        fastembed = import_library("fastembed")
        try:
            return fastembed.TextEmbedding(
                self.known_as or self._register(fastembed.TextEmbedding),
                specific_model_path=str(self.folder),
                local_files_only=True,
            )
        except EmbedderError:
            raise
        except Exception as error:
            raise self._failed("load", error) from error

    def _register(self, registry: Any) -> str:
        """Register the folder in fastembed's list of models.

        There is one list per process.
        """
        described = import_library("fastembed.common.model_description")
        name = f"{self.folder}?pooling={self.pooling}"
        with _registering:
            if name.lower() not in {m["model"].lower() for m in registry.list_supported_models()}:
                pooling = "DISABLED" if self.pooling == "none" else self.pooling.upper()
                registry.add_custom_model(
                    model=name,
                    pooling=described.PoolingType(pooling),
                    normalization=True,
                    sources=described.ModelSource(url=self.folder.as_uri()),
                    # Required but not used: the vectors themselves tell their length.
                    dim=0,
                    model_file=model_file(self.folder),
                )
        return name

    def _failed(self, verb: str, error: Exception) -> EmbedderError:
        return EmbedderError(
            f"fastembed cannot {verb} the model in {self.folder}: {in_words(error)}"
        )


def fastembed_model(string: ModelString) -> FastembedModel:
    """Return the model of `fastembed:FOLDER`.

    It is loaded with its first text.

    Raises:
        ConfigError: where the folder is not given as an absolute path.
        EmbedderError: where the folder or the library is not there, or the folder does not
            say how the model pools.
    """
    folder = find_folder(string, _HOW_TO_GET)
    require_library("fastembed", "fastembed")
    known_as = None if string.pooling else pulled_name(folder)
    pooling = "" if known_as else string.pooling or pooling_of(folder)
    name = string.prefixes.in_name(f"fastembed:{fingerprint(folder)}-{known_as or pooling}")
    return FastembedModel(name, folder, known_as, pooling, string.prefixes)
