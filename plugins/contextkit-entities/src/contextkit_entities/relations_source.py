"""The plugin `relations`: the relations around the entities that a query is about.

Its records are those of the source `entities`, which keeps both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import SourceInfo, hookimpl

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_truncate",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: its section follows the entities."""
    return SourceInfo(
        title="Relationships",
        description="how the entities that the question mentions hang together",
        priority=65,
        scale="calibrated",
        answers={"code": 0.03},
        embedder="none",
        cacheable=True,
        settings={"depth": 2},
        workspace_rules={"depth": "free"},
        reads=("entities",),
        records_of="entities",
        count_filters={"kind": "relation"},
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The relations around what the query mentions, or around what matches it best."""
    from contextkit_entities.asking import ask_for_relations

    return await ask_for_relations(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Both names with the type of the relation between them, on one line."""
    from contextkit_entities.formatting import formatted_relation

    return [formatted_relation(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Properties go; the rest is whole or not there."""
    from contextkit_entities.formatting import shortened_relation

    return shortened_relation(item, style, max_tokens, count)


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """Single lines: half a share of the budget."""
    return 0.5


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """A relation is the same wherever its id turns up."""
    return [[f"relation:{item.id}"] for item in items]


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.relations]`."""
    from contextkit_entities.settings import relations_problems

    return relations_problems(settings)
