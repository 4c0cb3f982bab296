"""A task: one frame on the stack of a session."""

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
    """A part of a task has a value that is not allowed; nothing was stored."""


class EmptyStackError(ContextKitError):
    """There is no task to pop, or to assemble a context for.

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
    """One task on a stack, or one that was popped from it.

    Attributes:
        goal: what is to be reached, on one line.
        detail: what is needed while it is worked on; gone once it is popped.
        session: whose stack it is on; None for the project's default stack.
        parent: the id of the task that it is a part of; None at the root.
        children: the ids of the tasks that are a part of it, in the order in which they were
            pushed; those that the stack knew when it read the task.
        depth: how many tasks are under it on the stack, 0 at the root.
        status: `active` on the stack; popped it is `complete` or `blocked`.
        result: what came of it; None while it is active.
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
        """Whether it is on the stack."""
        return self.status == "active"

    @property
    def text(self) -> str:
        """The goal, and the detail or the result below it."""
        below = self.detail if self.is_active else self.result
        return f"{self.goal}\n\n{below}" if below else self.goal

    @property
    def title(self) -> str:
        """The beginning of its goal."""
        return self.goal if len(self.goal) <= 60 else f"{self.goal[:59]}…"

    def derived_fields(self) -> Mapping[str, Any]:
        """Whose stack it is on: a filter compares texts, so none is the empty one."""
        return {"session": self.session or "", "parent": self.parent or ""}

    @classmethod
    def defaults_for(cls, record: Record) -> Mapping[str, Any]:
        """The goal of an imported record; where nothing says that it is active, it is not."""
        return {"goal": record.text.partition("\n")[0] or record.id, "status": "complete"}
