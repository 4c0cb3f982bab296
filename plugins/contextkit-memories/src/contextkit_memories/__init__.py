"""The memories source of contextkit: what a project and its user want remembered.

The module is the plugin: its hooks are those of `contextkit_memories.source`.
`MemoryBook` is the same for Python.
"""

from __future__ import annotations

from contextkit_memories.book import MemoryBook
from contextkit_memories.errors import (
    AmbiguousMemoryError,
    InvalidMemoryError,
    UnknownMemoryError,
)
from contextkit_memories.memory import Memory
from contextkit_memories.source import (
    contextkit_check_settings,
    contextkit_commands,
    contextkit_dedup_keys,
    contextkit_format,
    contextkit_query,
    contextkit_source,
    contextkit_weight,
)

__all__ = [
    "AmbiguousMemoryError",
    "InvalidMemoryError",
    "Memory",
    "MemoryBook",
    "UnknownMemoryError",
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_weight",
]
