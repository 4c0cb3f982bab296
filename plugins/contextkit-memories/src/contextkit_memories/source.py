"""The hooks of the source `memories`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import ContextItem, ContextRequest, Hit, SourceInfo, hookimpl
from contextkit.models import Style
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.memory import Memory
from contextkit_memories.words import category_spellings

if TYPE_CHECKING:
    import click

__all__ = [
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """First in a context; searched by meaning and by keywords."""
    return SourceInfo(
        title="Memories",
        description="facts, preferences, decisions and errors that were remembered",
        priority=90,
        embedder="default",
        indexed_fields=("category", "tags", "digest"),
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The memories of the project and of the user that match best."""
    hits = await request.records.search(
        request.query, limit=request.limit, filters=_stored_filters(request.filters)
    )
    return [_item(hit) for hit in hits]


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style) -> list[str]:
    """Each memory with its category and its importance."""
    from contextkit_memories.formatting import formatted

    return [formatted(item, style) for item in items]


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """Memories are short: the smallest share of the budget (seed 1)."""
    return 1.0


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """A memory is the same wherever its id turns up."""
    return [[f"memory:{item.id}"] for item in items]


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """The source has no settings of its own."""
    return [f"{key}: the source memories has no such setting" for key in settings]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `remember` and `memories`."""
    from contextkit_memories.commands import memories, remember

    cli.add_command(remember)
    cli.add_command(memories)


def _item(hit: Hit) -> ContextItem:
    memory = Memory.from_record(hit.record)
    return ContextItem(
        source="memories",
        content=memory.text,
        relevance=hit.relevance,
        id=memory.id,
        kind="memory",
        title=memory.title,
        created_at=memory.created_at,
        salience=memory.importance,
        location=f"memory {memory.id}",
        metadata={
            "id": memory.id,
            "category": memory.category,
            "importance": memory.importance,
            "created_at": memory.created_at.isoformat(),
            "tags": list(memory.tags),
            "scope": memory.scope,
        },
    )


def _stored_filters(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The request's filters, categories in all their spellings and tags in lower case."""
    stored = dict(filters)
    if "category" in stored:
        stored["category"] = [
            spelling for word in _words(stored["category"]) for spelling in _spellings(word)
        ]
    if "tags" in stored:
        stored["tags"] = [
            word.strip().lower() if isinstance(word, str) else word
            for word in _words(stored["tags"])
        ]
    return stored


def _words(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]


def _spellings(word: Any) -> tuple[Any, ...]:
    # What is no category can match none; the store says what is no filter at all.
    try:
        return category_spellings(word)
    except InvalidMemoryError:
        return (word,)
