"""contextkit assembles context for LLM agents from pluggable sources, within a token budget.

Names are imported when they are first used, so that a plugin that needs only `hookimpl`
and `ContextItem` costs a process next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.assembler import ContextAssembler
    from contextkit.embedding.model import DenseModel
    from contextkit.errors import (
        ContextAssemblyError,
        ContextKitError,
        InvalidContextTypeError,
        InvalidRequestError,
        SourceError,
    )
    from contextkit.indexing.indexer import Indexer
    from contextkit.kit import ContextKit
    from contextkit.models.context import ContextSource, FormattedContext
    from contextkit.models.items import ContextItem, IndexReport, Provenance
    from contextkit.models.record import USER, Hit, Range, Record
    from contextkit.models.records import Records, RecordsView
    from contextkit.models.request import ContextRequest, Recipe, RecipeTemplate, Section
    from contextkit.models.searcher import Searcher
    from contextkit.models.source import SourceInfo, Tool, ToolResult
    from contextkit.models.strategy import Strategy
    from contextkit.plugin.spec import hookimpl
    from contextkit.text.secrets import SecretSpan
    from contextkit.text.signals import QuerySignals

__version__ = "0.1.0"

_HOME = {
    "USER": "records",
    "ContextAssembler": "assembler",
    "ContextAssemblyError": "errors",
    "ContextItem": "models",
    "ContextKit": "kit",
    "ContextKitError": "errors",
    "ContextRequest": "request",
    "ContextSource": "formatted",
    "DenseModel": "embedding",
    "FormattedContext": "formatted",
    "Hit": "records",
    "IndexReport": "models",
    "Indexer": "indexing",
    "InvalidContextTypeError": "errors",
    "InvalidRequestError": "errors",
    "Provenance": "models",
    "Range": "records",
    "QuerySignals": "signals",
    "Recipe": "request",
    "RecipeTemplate": "request",
    "Record": "records",
    "Records": "records",
    "RecordsView": "records",
    "Searcher": "searcher.protocol",
    "SecretSpan": "secret_shapes",
    "Section": "request",
    "SourceError": "errors",
    "SourceInfo": "source_info",
    "Strategy": "strategy",
    "Tool": "tools",
    "ToolResult": "tools",
    "hookimpl": "hookspecs",
}

__all__ = [
    "USER",
    "ContextAssembler",
    "ContextAssemblyError",
    "ContextItem",
    "ContextKit",
    "ContextKitError",
    "ContextRequest",
    "ContextSource",
    "DenseModel",
    "FormattedContext",
    "Hit",
    "IndexReport",
    "Indexer",
    "InvalidContextTypeError",
    "InvalidRequestError",
    "Provenance",
    "QuerySignals",
    "Range",
    "Recipe",
    "RecipeTemplate",
    "Record",
    "Records",
    "RecordsView",
    "Searcher",
    "SecretSpan",
    "Section",
    "SourceError",
    "SourceInfo",
    "Strategy",
    "Tool",
    "ToolResult",
    "hookimpl",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
