"""The hooks of the source `entities`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import SourceInfo, hookimpl

if TYPE_CHECKING:
    import click

    from contextkit import ContextItem, ContextRequest, Indexer, IndexReport, Tool
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_index",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_truncate",
    "contextkit_weight",
]


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
        cacheable=True,
        settings={"code_source": ""},
        reads=("code",),
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The entities that the query mentions or that match it."""
    from contextkit_entities.asking import ask_for_entities

    return await ask_for_entities(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Type, name and properties on one line."""
    from contextkit_entities.formatting import formatted_entity

    return [formatted_entity(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Properties go before the name and where it is."""
    from contextkit_entities.formatting import shortened_entity

    return shortened_entity(item, style, max_tokens, count)


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """Single lines: half a share of the budget."""
    return 0.5


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """Its own id. None of the code's: where both are found, the code is not lost to a line."""
    return [[f"entity:{item.id}"] for item in items]


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Bring what comes from the code up to date, where that is on."""
    from contextkit_entities.index_run import index_entities

    return index_entities(indexer)


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.entities]`."""
    from contextkit_entities.settings import entities_problems

    return entities_problems(settings)


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `entities`."""
    from contextkit.cli.lazy import LazyCommand

    target = "contextkit_entities.commands:entities"
    cli.add_command(LazyCommand("entities", target, "Record entities and their relations."))


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """Remember, relate, look around, forget."""
    from contextkit_entities.tools import TOOLS

    return TOOLS
