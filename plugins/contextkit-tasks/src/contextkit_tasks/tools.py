"""Agent tools `push_task`, `pop_task`, `show_tasks` and `task_context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

from contextkit import Tool, ToolResult
from contextkit_tasks.assembling import assemble_task_context
from contextkit_tasks.frame import TaskFrame
from contextkit_tasks.showing import lines_of, path_of
from contextkit_tasks.stack import TaskStack

if TYPE_CHECKING:
    from contextkit import ContextKit


_Session = Annotated[str | None, "whose stack; default: the project's default stack"]


class _Shown(TypedDict):
    path: Annotated[list[TaskFrame], "from the root to the current task; empty when there is none"]
    sibling_results: Annotated[list[TaskFrame], "what ended under the same parent, latest first"]


class _Context(TypedDict):
    text: str
    tokens: int


def _push(
    kit: ContextKit,
    goal: Annotated[str, "the goal to reach, one line, to 500 characters"],
    detail: Annotated[str | None, "what is needed while it is worked on; goes when popped"] = None,
    session: _Session = None,
) -> ToolResult[TaskFrame]:
    begun = TaskStack.of(kit, session).push(goal, detail)
    return ToolResult(begun, f"Pushed {begun.id} (depth {begun.depth}): {begun.goal}")


def _pop(
    kit: ContextKit,
    result: Annotated[str, "what came of it; what later tasks need to know"],
    blocked: Annotated[bool, "true where it could not be completed"] = False,
    session: _Session = None,
) -> ToolResult[TaskFrame]:
    ended = TaskStack.of(kit, session).pop(result, blocked=blocked)
    return ToolResult(ended, f"Popped {ended.id} ({ended.status}): {ended.goal}")


def _show(kit: ContextKit, session: _Session = None) -> ToolResult[_Shown]:
    stack = TaskStack.of(kit, session)
    path, results = stack.path(), stack.sibling_results()
    text = path_of(path)
    if results:
        text = f"{text}\n\nResults beside it:\n{lines_of(results)}"
    shown = {
        "path": [frame.as_dict() for frame in path],
        "sibling_results": [frame.as_dict() for frame in results],
    }
    return ToolResult(cast("_Shown", shown), text)


async def _context(
    kit: ContextKit,
    max_tokens: Annotated[int | None, "the budget of the text; default 2000"] = None,
    sources: Annotated[list[str] | None, "sources beside the stack; default: all"] = None,
    strategy: Annotated[str | None, "what makes a score and splits the budget, by name"] = None,
    session: _Session = None,
) -> ToolResult[_Context]:
    options: dict[str, Any] = {"max_tokens": max_tokens, "strategy": strategy}
    made = await assemble_task_context(kit, session, sources, **options)
    return ToolResult({"text": made.markdown, "tokens": made.token_count}, made.markdown)


TOOLS = (
    Tool(
        name="push_task",
        description=(
            "Begin a task as a part of the current one. Use it when you turn to a subtask, so "
            "that you can come back to what it was for."
        ),
        run=_push,
    ),
    Tool(
        name="pop_task",
        description=(
            "End the current task with its result. The result stays and is shown to the tasks "
            "beside it; the detail goes."
        ),
        run=_pop,
    ),
    Tool(
        name="show_tasks",
        description=(
            "Show the tasks from the root to the current one, and the results of those that "
            "ended beside it."
        ),
        run=_show,
        read_only=True,
    ),
    Tool(
        name="task_context",
        description=(
            "The context for the current task: its root goal, the path, sibling results, and "
            "what every source finds for its goal."
        ),
        run=_context,
        read_only=True,
    ),
)
"""Agent tools for the task stack."""
