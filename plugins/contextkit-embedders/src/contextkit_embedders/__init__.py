"""Embedding models for contextkit, selected by name in the configuration.

| model string | what makes the vectors |
|---|---|
| `fastembed:FOLDER` | fastembed, from a model folder |
| `sentence-transformers:FOLDER` | sentence-transformers, from a model folder |
| `openai:MODEL@URL` | an OpenAI-compatible endpoint |

A model's library is imported when its first text is embedded, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit import hookimpl
from contextkit.models import SourceInfo
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit.models import DenseModel
    from contextkit_embedders.errors import EmbedderError

__all__ = ["EmbedderError"]

__getattr__ = lazy_names(__name__, errors="EmbedderError")


@hookimpl
def contextkit_embedder(model: str) -> DenseModel | None:
    """Return the model of a supported model string, else None.

    The folder, the URL and the library's installation are checked now; the model itself is loaded,
    or requested, when its first text is embedded.

    Raises `ConfigError` for a malformed string, and `EmbedderError` where the model's folder or
    library is not there.
    """
    from contextkit_embedders.model_strings import read_model_string

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


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    return SourceInfo(
        commands={"models": ("contextkit_embedders.commands:models", "Download embedding models.")}
    )
