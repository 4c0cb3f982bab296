"""Embedding models for contextkit, each used by naming it in the configuration.

| model string | what makes the vectors |
|---|---|
| `fastembed:FOLDER` | fastembed, from a model folder |
| `sentence-transformers:FOLDER` | sentence-transformers, from a model folder |
| `openai:MODEL@URL` | an OpenAI-compatible endpoint |

A model's library is imported when its first text is embedded, not before.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit.models.source import SourceInfo
from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    from contextkit.models.embedding import DenseModel
    from contextkit_embedders.errors import EmbedderError

__all__ = ["EmbedderError"]

_HOME = {"EmbedderError": "errors"}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its models use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


@hookimpl
def contextkit_embedder(model: str) -> DenseModel | None:
    """The model of a string with one of our prefixes; None for any other string."""
    from contextkit_embedders.choosing import choose_model

    return choose_model(model)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Its commands."""
    return SourceInfo(
        commands={"models": ("contextkit_embedders.commands:models", "Download embedding models.")}
    )
