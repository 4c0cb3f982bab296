"""The hooks of the source `patterns`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    "contextkit_truncate",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Applicable Patterns",
        description="procedures that worked before, with their success rates",
        priority=60,
        scale="calibrated",
        notes=True,
        cacheable=True,
        indexed_fields=("trigger_words", "name"),
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The patterns that the query calls for or that match it, what works first."""
    from contextkit_patterns.finding import find_patterns

    return await find_patterns(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Name, how often it worked, what calls for it, and the steps."""
    from contextkit_patterns.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """Its name and its steps: how often it worked and what calls for it go first."""
    from contextkit_patterns.shortening import shortened

    return shortened(item, style, max_tokens, count)


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """A few procedures of a few lines: one share of the budget."""
    return 1.0


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """A pattern is the same wherever its id turns up."""
    return [[f"pattern:{item.id}"] for item in items]


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """The source has no settings of its own."""
    return [f"{key}: the source patterns has no such setting" for key in settings]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `patterns`."""
    from contextkit.cli.lazy import LazyCommand

    target = "contextkit_patterns.commands:patterns"
    cli.add_command(LazyCommand("patterns", target, "Record procedures and how often they worked."))


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`add_pattern`, `pattern_applied`, `list_patterns`, `remove_pattern`."""
    from contextkit_patterns.tools import TOOLS

    return TOOLS
