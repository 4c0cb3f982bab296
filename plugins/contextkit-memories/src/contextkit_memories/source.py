"""The hooks of the source `memories`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import SourceInfo, hookimpl

if TYPE_CHECKING:
    import click

    from contextkit import ContextItem, ContextRequest, Tool
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """First in a context; searched by meaning and by keywords."""
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
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The memories of the project and of the user that match best, with those beside them."""
    from contextkit_memories.finding import find_memories

    return await find_memories(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Each memory with its category and its importance, or on one line with its date."""
    from contextkit_memories.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """Memories are short: the smallest share of the budget."""
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
    from contextkit.cli.lazy import LazyCommand

    for name, summary in (
        ("remember", "Store TEXT as a memory."),
        ("memories", "List, show and delete memories."),
    ):
        cli.add_command(LazyCommand(name, f"contextkit_memories.commands:{name}", summary))


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`remember`, `forget`, `list_memories`."""
    from contextkit_memories.tools import TOOLS

    return TOOLS
