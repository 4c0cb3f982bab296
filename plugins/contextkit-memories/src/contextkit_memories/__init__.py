"""The memories source of contextkit: what a project and its user want remembered.

The module is the plugin: its hooks are those of `contextkit_memories.source`.
`MemoryBook` is the same for Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit_memories.source import (
    contextkit_check_settings,
    contextkit_commands,
    contextkit_dedup_keys,
    contextkit_format,
    contextkit_query,
    contextkit_source,
    contextkit_tools,
    contextkit_weight,
)

if TYPE_CHECKING:
    from contextkit_memories.book import MemoryBook
    from contextkit_memories.errors import (
        AmbiguousMemoryError,
        InvalidMemoryError,
        SecretInMemoryError,
        UnknownMemoryError,
    )
    from contextkit_memories.memory import Memory

__all__ = [
    "AmbiguousMemoryError",
    "InvalidMemoryError",
    "Memory",
    "MemoryBook",
    "SecretInMemoryError",
    "UnknownMemoryError",
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]

_HOME = {
    "AmbiguousMemoryError": "errors",
    "InvalidMemoryError": "errors",
    "Memory": "memory",
    "MemoryBook": "book",
    "SecretInMemoryError": "errors",
    "UnknownMemoryError": "errors",
}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its commands use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
