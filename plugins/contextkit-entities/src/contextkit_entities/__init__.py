"""The `entities` and `relations` sources.

The module is the plugin `entities`; the plugin `relations` is
`contextkit_entities.relations_source`. `EntityBook` stores both from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import SourceInfo, hookimpl
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, Indexer, IndexReport
    from contextkit.models import Detail, Style
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
]

__getattr__ = lazy_names(
    __name__,
    book="EntityBook",
    entity="Entity",
    errors="AmbiguousEntityError InvalidEntityError UnknownEntityError UnknownRelationError",
    relation="Relation",
    walking="Step",
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: found by name, and by keywords."""
    return SourceInfo(
        title="Known Entities",
        description="people, services, modules and classes that the question mentions",
        priority=70,
        scale="calibrated",
        answers={"code": 0.03},
        embedder="none",
        count_filters={"kind": "entity"},
        indexed_fields=("kind", "names", "ends", "origin", "type", "band"),
        entity_type_field="type",
        by_hand={"origin": "hand"},
        cacheable=True,
        settings={"code_source": ""},
        reads=("code",),
        weight=0.5,
        # Not one of the code's keys: where both are found, a line must not displace the code.
        dedup_key="entity:{id}",
        commands={
            "entities": (
                "contextkit_entities.commands:entities",
                "Record entities and their relations.",
            )
        },
        tools="contextkit_entities.tools:TOOLS",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the entities that the query mentions or matches."""
    from contextkit_entities.asking import ask_for_entities

    return await ask_for_entities(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format type, name and properties on one line."""
    from contextkit_entities.formatting import formatted_entity

    return [formatted_entity(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Shorten an entity: drop properties before name and location."""
    from contextkit_entities.formatting import shortened_entity

    return shortened_entity(item, style, max_tokens, count)


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Update the entities from the code, if that is enabled."""
    from contextkit_entities.index_run import index_entities

    return index_entities(indexer)
