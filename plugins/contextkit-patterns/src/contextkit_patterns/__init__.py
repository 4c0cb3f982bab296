"""The patterns source of contextkit: procedures that worked, and when to think of them.

The module is the plugin: its hooks are those of `contextkit_patterns.source`.
`PatternBook` is the same for Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit_patterns.source import (
    contextkit_check_settings,
    contextkit_commands,
    contextkit_dedup_keys,
    contextkit_format,
    contextkit_query,
    contextkit_source,
    contextkit_tools,
    contextkit_truncate,
    contextkit_weight,
)

if TYPE_CHECKING:
    from contextkit_patterns.book import PatternBook
    from contextkit_patterns.errors import InvalidPatternError, UnknownPatternError
    from contextkit_patterns.pattern import Pattern

__all__ = [
    "InvalidPatternError",
    "Pattern",
    "PatternBook",
    "UnknownPatternError",
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_truncate",
    "contextkit_weight",
]

_HOME = {
    "InvalidPatternError": "errors",
    "Pattern": "pattern",
    "PatternBook": "book",
    "UnknownPatternError": "errors",
}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its commands use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
