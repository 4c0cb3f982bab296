"""The `tasks` source: a stack of tasks for each session.

The module is the plugin. `TaskStack` pushes, pops and shows; `assemble_task_context` assembles by
the recipe `task`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from contextkit import SourceInfo, hookimpl
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, RecipeTemplate
    from contextkit.models import Detail, Style
    from contextkit_tasks.assembling import assemble_task_context
    from contextkit_tasks.frame import EmptyStackError, InvalidTaskError, TaskFrame
    from contextkit_tasks.stack import TaskStack

__all__ = [
    "EmptyStackError",
    "InvalidTaskError",
    "TaskFrame",
    "TaskStack",
    "assemble_task_context",
]

__getattr__ = lazy_names(
    __name__,
    assembling="assemble_task_context",
    frame="EmptyStackError InvalidTaskError TaskFrame",
    stack="TaskStack",
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source: tasks come before knowledge."""
    return SourceInfo(
        title="Tasks",
        description="the task stack: the current task, its parents and results",
        priority=95,
        scale="calibrated",
        answers={"activity": 1, "decisions": 0.3},
        cacheable=True,
        indexed_fields=("session", "parent", "status"),
        settings={},
        dedup_key="task:{id}",
        commands={"task": ("contextkit_tasks.commands:task", "Push, pop and show tasks.")},
        tools="contextkit_tasks.tools:TOOLS",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the tasks that match, or a stack's part.

    The filter `role` names the part.
    """
    from contextkit_tasks.finding import find_tasks

    return await find_tasks(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format goal and status, with detail or result.

    Active tasks show their detail, ended ones their result.
    """
    from contextkit_tasks.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_recipes() -> Sequence[RecipeTemplate]:
    """Return the recipe `task`."""
    from contextkit_tasks.recipe import TASK_TEMPLATE

    return [TASK_TEMPLATE]
