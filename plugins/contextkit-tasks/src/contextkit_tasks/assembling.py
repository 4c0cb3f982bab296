"""Assemble the context of the current task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from contextkit.concurrency import in_thread
from contextkit.models import ContextRequest
from contextkit_tasks.recipe import TASK
from contextkit_tasks.stack import TaskStack

if TYPE_CHECKING:
    from contextkit import ContextKit, FormattedContext


async def assemble_task_context(
    kit: ContextKit,
    session: str | None = None,
    sources: Sequence[str] | None = None,
    **options: Any,
) -> FormattedContext:
    """Assemble a session's current task by the recipe `task`.

    The root goal has 5% of the budget, the tasks between 15%, and the results of its siblings 10%.
    The rest goes to the current task and the other sources' results for its goal, split by their
    weights. Unused shares go to the other parts.

    Args:
        kit: the workspace's kit.
        session: the stack's session; default: the project's default stack.
        sources: sources beside the stack; default: every enabled source.
        options: `limit`, `max_tokens` and further fields of `ContextRequest`.

    Raises:
        EmptyStackError: there is no current task.
        InvalidContextTypeError: for the name of an unknown source.
        InvalidRequestError: for an invalid value.
    """
    stack = TaskStack.of(kit, session)
    current = await in_thread(stack.current)
    if sources and options.get("exclude_sources") is None:
        # No setting excludes a source that is named explicitly.
        options["exclude_sources"] = ()
    names = sources or kit.config.assemble.sources or kit.registry.sources
    for name in names:
        kit.registry.require(name)
    asking = ContextRequest(
        query=current.goal,
        project=kit.project,
        session=stack.session,
        recipe=TASK,
        weights=options.get("weights") or {},
    )
    weights = {name: kit.registry.weight(name, asking) for name in names if name != "tasks"}
    return await kit.assemble_recipe(
        TASK, {"goal": current.goal, "sources": weights}, session=stack.session, **options
    )
