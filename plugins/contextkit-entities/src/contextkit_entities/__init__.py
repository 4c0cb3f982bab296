"""The entities and relations sources of contextkit: what there is, and how it hangs together.

The module is the plugin `entities`; its hooks are those of `contextkit_entities.source`. The
plugin `relations` is `contextkit_entities.relations_source`. `EntityBook` is the same for Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit_entities.source import (
    contextkit_format,
    contextkit_index,
    contextkit_query,
    contextkit_source,
    contextkit_truncate,
)

if TYPE_CHECKING:
    from contextkit_entities.book import EntityBook
    from contextkit_entities.entity import Entity
    from contextkit_entities.errors import (
        AmbiguousEntityError,
        InvalidEntityError,
        UnknownEntityError,
        UnknownRelationError,
    )
    from contextkit_entities.relation import Relation
    from contextkit_entities.walking import Step

__all__ = [
    "AmbiguousEntityError",
    "Entity",
    "EntityBook",
    "InvalidEntityError",
    "Relation",
    "Step",
    "UnknownEntityError",
    "UnknownRelationError",
    "contextkit_format",
    "contextkit_index",
    "contextkit_query",
    "contextkit_source",
    "contextkit_truncate",
]

_HOME = {
    "AmbiguousEntityError": "errors",
    "Entity": "entity",
    "EntityBook": "book",
    "InvalidEntityError": "errors",
    "Relation": "relation",
    "Step": "walking",
    "UnknownEntityError": "errors",
    "UnknownRelationError": "errors",
}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its commands use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
