"""Assembling the context of the current task."""

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
    """The context for the current task of a session, by the recipe `task`.

    Its root goal has 5% of the budget, the tasks between 15%, the results of its siblings
    10%, and the rest is the current task's and of what the other sources find for its goal,
    split among those by their weights. What a part leaves goes to the others.

    Args:
        kit: the workspace's kit.
        session: whose stack; default: the project's default stack.
        sources: sources beside the stack; default: every source that is on.
        options: `limit`, `max_tokens` and further fields of `ContextRequest`.

    Raises:
        EmptyStackError: there is no current task.
        InvalidContextTypeError: for a name that is no source.
        InvalidRequestError: for a value that makes no sense.
    """
    stack = TaskStack.of(kit, session)
    current = await in_thread(stack.current)
    if sources and options.get("exclude_sources") is None:
        # What is named by itself no setting leaves out.
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
