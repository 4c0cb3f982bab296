"""Choose a model by its model string."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit_embedders.model_strings import read_model_string

if TYPE_CHECKING:
    from contextkit.models import DenseModel


def choose_model(model: str) -> DenseModel | None:
    """Return a string's model; None for unsupported kinds.

    The folder, the URL and the library's installation are checked now; the model itself is loaded,
    or requested, when its first text is embedded.

    Raises:
        ConfigError: where the string is malformed.
        EmbedderError: where the model's folder or library is not there.
    """
    string = read_model_string(model)
    if string is None:
        return None
    if string.kind == "fastembed":
        from contextkit_embedders.fastembed_model import fastembed_model

        return fastembed_model(string)
    if string.kind == "sentence-transformers":
        from contextkit_embedders.sentence_transformers_model import sentence_transformers_model

        return sentence_transformers_model(string)
    from contextkit_embedders.openai_model import openai_model

    return openai_model(string)
