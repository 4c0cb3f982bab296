"""What a task frame is, what its parts may be, and the record that it is stored as."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from attrs import frozen

from contextkit import Record
from contextkit.text.given import given_lines
from contextkit_tasks.errors import InvalidTaskError

__all__ = [
    "MAX_GOAL",
    "MAX_TEXT",
    "Status",
    "TaskFrame",
    "checked_goal",
    "checked_session",
    "checked_text",
]

Status = Literal["active", "complete", "blocked"]
MAX_GOAL = 500
MAX_TEXT = 20_000

_LONGEST_SESSION = 200


@frozen(kw_only=True)
class TaskFrame:
    """One task on a stack, or one that was popped from it.

    Attributes:
        id: unique, in the order of time.
        goal: what is to be reached, on one line.
        detail: what is needed while it is worked on; gone once it is popped.
        session: whose stack it is on; None for the project's default stack.
        parent: the id of the task that it is a part of; None at the root.
        depth: how many tasks are under it on the stack, 0 at the root.
        status: `active` on the stack; popped it is `complete` or `blocked`.
        result: what came of it; None while it is active.
        created_at: when it was pushed, aware.
        ended_at: when it was popped, aware; None while it is active.
    """

    id: str
    goal: str
    detail: str | None = None
    session: str | None = None
    parent: str | None = None
    depth: int = 0
    status: Status = "active"
    result: str | None = None
    created_at: datetime
    ended_at: datetime | None = None

    @property
    def is_active(self) -> bool:
        """Whether it is on the stack."""
        return self.status == "active"

    @property
    def text(self) -> str:
        """What is searched and shown: the goal, and the detail or the result below it."""
        below = self.detail if self.is_active else self.result
        return f"{self.goal}\n\n{below}" if below else self.goal

    @classmethod
    def from_record(cls, record: Record) -> TaskFrame:
        """The frame that a record holds; fields that it lacks have their defaults."""
        # Records come from imports and from a host's own search, too.
        fields = record.fields
        depth = fields.get("depth")
        return cls(
            id=record.id,
            goal=_text_in(fields, "goal") or record.text.partition("\n")[0] or record.id,
            detail=_text_in(fields, "detail"),
            session=_text_in(fields, "session"),
            parent=_text_in(fields, "parent"),
            depth=depth if type(depth) is int else 0,
            status=_status_in(fields),
            result=_text_in(fields, "result"),
            created_at=record.created_at,
            ended_at=_time_in(fields, "ended_at"),
        )

    def as_record(self) -> Record:
        """The record that it is stored as."""
        return Record(
            id=self.id,
            text=self.text,
            created_at=self.created_at,
            fields={
                # A filter compares texts, so what there is none of is the empty one.
                "session": self.session or "",
                "parent": self.parent or "",
                "goal": self.goal,
                "detail": self.detail,
                "depth": self.depth,
                "status": self.status,
                "result": self.result,
                "ended_at": None if self.ended_at is None else self.ended_at.isoformat(),
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """The frame as JSON values, for people's scripts."""
        return {
            "id": self.id,
            "goal": self.goal,
            "detail": self.detail,
            "session": self.session,
            "parent": self.parent,
            "depth": self.depth,
            "status": self.status,
            "result": self.result,
            "created_at": self.created_at.isoformat(),
            "ended_at": None if self.ended_at is None else self.ended_at.isoformat(),
        }


def _text_in(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _status_in(fields: Mapping[str, Any]) -> Status:
    # What is on no stack for sure is better left off it.
    found: Status
    for found in get_args(Status):
        if fields.get("status") == found:
            return found
    return "complete"


def _time_in(fields: Mapping[str, Any], name: str) -> datetime | None:
    value = fields.get(name)
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.utcoffset() is not None else found.replace(tzinfo=UTC)


def checked_goal(goal: str) -> str:
    """A goal as it is stored.

    Args:
        goal: 1 to 500 characters.

    Returns:
        It on one line.

    Raises:
        InvalidTaskError: it is empty, too long or not text.
    """
    from contextkit.text.markup import one_line

    stored = one_line(checked_text(goal, "goal"))
    if len(stored) > MAX_GOAL:
        raise InvalidTaskError(
            f"a goal has at most {MAX_GOAL} characters, this one has {len(stored):,}: "
            f"put the rest into the detail"
        )
    return stored


def checked_text(text: str, what: str) -> str:
    """A detail or a result as it is stored.

    Args:
        text: 1 to 20,000 characters.
        what: what it is, for the error.

    Returns:
        It without white space at its ends and without controls.

    Raises:
        InvalidTaskError: it is empty, too long or not text.
    """
    stored = given_lines(text, f"a task's {what}", InvalidTaskError)
    if not stored:
        raise InvalidTaskError(f"a task's {what} is empty: say it in a few words")
    if len(stored) > MAX_TEXT:
        raise InvalidTaskError(
            f"a task's {what} has at most {MAX_TEXT:,} characters, this one has {len(stored):,}"
        )
    return stored


def checked_session(session: str | None) -> str | None:
    """A session's name as it is stored; None is the project's default stack.

    Raises `InvalidTaskError` where it is no name.
    """
    if session is None:
        return None
    name = session.strip() if isinstance(session, str) else ""
    if not 1 <= len(name) <= _LONGEST_SESSION or not name.isprintable():
        raise InvalidTaskError(
            f"a session's name has 1 to {_LONGEST_SESSION} printable characters, got "
            f"{str(session)[:80]!r}"
        )
    return name
