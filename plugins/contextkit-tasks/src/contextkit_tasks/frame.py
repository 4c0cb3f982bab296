"""A task: one frame on a session's stack."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import field, frozen

from contextkit import Record
from contextkit.errors import ContextKitError
from contextkit.sources import Entry, InvalidEntryError, choice, name, part, text, time_of, whole

MAX_GOAL = 500
MAX_TEXT = 20_000

Status = Literal["active", "complete", "blocked"]

_goal_text = text("a task's goal", MAX_TEXT)


class InvalidTaskError(InvalidEntryError):
    """A task is invalid; nothing was stored.

    One of its parts has a value that is not allowed.
    """


class EmptyStackError(ContextKitError):
    """The stack has no task to pop or assemble for.

    Attributes:
        session: the session whose stack is empty; None for the project's default stack.
    """

    exit_code = 5

    def __init__(self, session: str | None) -> None:
        self.session = session
        whose = "the project's task stack" if session is None else f"session {session!r}'s stack"
        super().__init__(f'{whose} is empty: `contextkit task push "GOAL"` begins a task')


def _goal(value: Any) -> str:
    from contextkit.text import one_line

    stored = one_line(_goal_text(value))
    if len(stored) > MAX_GOAL:
        raise InvalidTaskError(
            f"a goal has at most {MAX_GOAL} characters, this one has {len(stored):,}: "
            f"put the rest into the detail"
        )
    return stored


@frozen(kw_only=True)
class TaskFrame(Entry):
    """A task on a stack, or one popped from it.

    Attributes:
        goal: the goal, on one line.
        detail: details needed during the work; dropped when it is popped.
        session: the session of its stack; None for the project's default stack.
        parent: the id of its parent task; None at the root.
        children: the ids of its subtasks, in the order in which they were pushed; those that the
            stack knew when it read the task.
        depth: the number of tasks under it on the stack, 0 at the root.
        status: `active` on the stack; popped it is `complete` or `blocked`.
        result: the result; None while it is active.
        ended_at: when it was popped, aware; None while it is active.
    """

    noun = "task"
    shown = (
        "id", "goal", "detail", "session", "parent", "children", "depth", "status", "result",
        "created_at", "ended_at",
    )  # fmt: skip
    invalid = InvalidTaskError

    goal: str = part(_goal)
    detail: Annotated[str | None, "null once it is popped"] = part(
        text("a task's detail", MAX_TEXT), None
    )
    session: str | None = part(name("a session's name", 200), None)
    parent: Annotated[str | None, "the id of the task it is a part of; null at the root"] = part(
        name("a task's id", 200), None
    )
    depth: int = part(whole("depth"), 0)
    status: Status = part(choice("a status", ("active", "complete", "blocked")), "active")
    result: str | None = part(text("a task's result", MAX_TEXT), None)
    ended_at: datetime | None = part(time_of, None)
    children: Annotated[tuple[str, ...], "the ids of the tasks that are a part of it"] = field(
        default=(), eq=False
    )

    @property
    def is_active(self) -> bool:
        """Return whether it is on the stack."""
        return self.status == "active"

    @property
    def text(self) -> str:
        """Return the goal, followed by the detail or result."""
        below = self.detail if self.is_active else self.result
        return f"{self.goal}\n\n{below}" if below else self.goal

    @property
    def title(self) -> str:
        """Return the beginning of its goal."""
        return self.goal if len(self.goal) <= 60 else f"{self.goal[:59]}…"

    def derived_fields(self) -> Mapping[str, Any]:
        """Return the session of its stack as a field.

        A filter compares texts, so None becomes the empty text.
        """
        return {"session": self.session or "", "parent": self.parent or ""}

    @classmethod
    def defaults_for(cls, record: Record) -> Mapping[str, Any]:
        """Return defaults for an imported record.

        It gets its goal, and counts as ended unless it says that it is active.
        """
        return {"goal": record.text.partition("\n")[0] or record.id, "status": "complete"}
