"""The hooks of the source `tasks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import SourceInfo, hookimpl

if TYPE_CHECKING:
    import click

    from contextkit import ContextItem, ContextRequest, RecipeTemplate, Tool
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_commands",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_query",
    "contextkit_recipes",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """What is being done stands before what is known."""
    return SourceInfo(
        title="Tasks",
        description="the task stack: the current task, its parents and results",
        priority=95,
        scale="calibrated",
        answers={"activity": 1, "decisions": 0.3},
        cacheable=True,
        indexed_fields=("session", "parent", "status"),
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The part of the stack that the filter `role` names, or the tasks that match."""
    from contextkit_tasks.finding import find_tasks

    return await find_tasks(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Goal and status, with the detail of what is active or the result of what ended."""
    from contextkit_tasks.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 - the hook's signature
    """Tasks are short: one share of the budget; the recipe `task` has a split of its own."""
    return 1.0


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """A task is the same wherever its id turns up."""
    return [[f"task:{item.id}"] for item in items]


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """The source has no settings of its own."""
    return [f"{key}: the source tasks has no such setting" for key in settings]


@hookimpl
def contextkit_recipes() -> Sequence[RecipeTemplate]:
    """`task`."""
    from contextkit_tasks.recipe import TASK_TEMPLATE

    return [TASK_TEMPLATE]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `task`."""
    from contextkit.cli.lazy import LazyCommand

    cli.add_command(
        LazyCommand("task", "contextkit_tasks.commands:task", "Push, pop and show tasks.")
    )


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`push_task`, `pop_task`, `show_tasks`, `task_context`."""
    from contextkit_tasks.tools import TOOLS

    return TOOLS
