"""Tasks as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit.text import one_line
from contextkit_tasks.frame import TaskFrame

EMPTY = "No task."
_RESULT_WIDTH = 72


def path_of(frames: Sequence[TaskFrame]) -> str:
    """Show the tasks from root to current, indented by depth.

    Each task is on a line.
    """
    lines = [f"{'  ' * step}{frame.goal}" for step, frame in enumerate(frames)]
    return "\n".join(lines) or EMPTY


def page_of(frame: TaskFrame | None) -> str:
    """Show a task with its detail or its result."""
    if frame is None:
        return EMPTY
    head = f"{frame.id} ({frame.status}, depth {frame.depth})"
    return f"{head}\n\n{frame.text}"


def lines_of(frames: Sequence[TaskFrame]) -> str:
    """List id, status, goal and result, one line each."""
    return "\n".join(_line(frame) for frame in frames) or "No tasks."


def _line(frame: TaskFrame) -> str:
    result = one_line(frame.result or "")
    if len(result) > _RESULT_WIDTH:
        result = f"{result[: _RESULT_WIDTH - 1]}…"
    said = f"{frame.goal} -> {result}" if result else frame.goal
    return f"{frame.id}  {frame.created_at:%Y-%m-%d}  {frame.status:<8}  {frame.depth}  {said}"
