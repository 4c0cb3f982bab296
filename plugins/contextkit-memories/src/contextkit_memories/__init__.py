"""The `memories` source: facts that a project and user keep.

The module is the plugin. `MemoryBook` stores memories from Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit import SourceInfo, hookimpl
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest
    from contextkit.models import Detail, Style
    from contextkit_memories.book import MemoryBook
    from contextkit_memories.errors import (
        InvalidMemoryError,
        SecretInMemoryError,
        UnknownMemoryError,
    )
    from contextkit_memories.memory import Memory

__all__ = [
    "InvalidMemoryError",
    "Memory",
    "MemoryBook",
    "SecretInMemoryError",
    "UnknownMemoryError",
]

__getattr__ = lazy_names(
    __name__,
    book="MemoryBook",
    errors="InvalidMemoryError SecretInMemoryError UnknownMemoryError",
    memory="Memory",
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source: first in a context.

    Memories are searched by meaning and by keywords.
    """
    return SourceInfo(
        title="Memories",
        description="remembered facts, preferences, decisions and errors",
        priority=90,
        scale="calibrated",
        notes=True,
        cacheable=True,
        embedder="default",
        updates=True,
        indexed_fields=("category", "tags", "digest", "sequence", "place"),
        dated=True,
        settings={},
        dedup_key="memory:{id}",
        # Memories that mention what is gone from these are marked.
        reads=("code", "commits"),
        commands={
            "remember": ("contextkit_memories.commands:remember", "Store TEXT as a memory."),
            "memories": (
                "contextkit_memories.commands:memories",
                "List, search, edit and delete memories.",
            ),
        },
        tools="contextkit_memories.tools:TOOLS",
        book="contextkit_memories.book:MemoryBook",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the best-matching memories, with those beside them.

    Memories of the project and of the user are searched.
    """
    from contextkit_memories.finding import find_memories

    return await find_memories(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format memories with category and importance.

    On one line, a memory has its date instead.
    """
    from contextkit_memories.formatting import formatted

    return [formatted(item, style, detail) for item in items]
