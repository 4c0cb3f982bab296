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

    Supported strings have one of this plugin's prefixes.
    """
    from contextkit_embedders.choosing import choose_model

    return choose_model(model)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    return SourceInfo(
        commands={"models": ("contextkit_embedders.commands:models", "Download embedding models.")}
    )
