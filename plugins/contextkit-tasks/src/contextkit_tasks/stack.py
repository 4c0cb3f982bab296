"""The task stack of a session: push, pop with a result, peek, path."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from contextkit import InvalidRequestError, Record, Records
from contextkit.concurrency import ForkLock
from contextkit_tasks.errors import EmptyStackError
from contextkit_tasks.frame import (
    TaskFrame,
    checked_goal,
    checked_session,
    checked_text,
)

if TYPE_CHECKING:
    from contextkit import ContextKit

__all__ = ["TaskStack"]

_Frames = list[TaskFrame]
# Between the look at what is on top and the write nobody else may push or pop.
_changing = ForkLock()


def _now() -> datetime:
    return datetime.now(UTC)


@frozen
class TaskStack:
    """The tasks of one session, the current one on top.

    Each task is a record of its own, so that what several processes push at once is all kept.
    Every method blocks and may be called from any thread.

    ```python
    stack = TaskStack.of(kit, session="monday")
    stack.push("Make the release")
    stack.push("Fix the failing test", detail="test_wheel fails on Windows")
    stack.pop("A path was joined by hand")
    ```

    Attributes:
        records: the records of the source `tasks`.
        session: whose stack it is; default: the project's default stack.
        hold: keeps the store for this process while it lasts, so that a look and the write
            that follows are one turn; default: nothing does.
        clock: tells the time, aware; default: the system's.
    """

    records: Records
    session: str | None = field(default=None, converter=checked_session)
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    clock: Callable[[], datetime] = field(default=_now, repr=False)

    @classmethod
    def of(cls, kit: ContextKit, session: str | None = None) -> TaskStack:
        """The stack of a session in a kit's project; turns are taken with other processes.

        Raises:
            InvalidContextTypeError: the source `tasks` is off.
            InvalidTaskError: the session's name is none.
        """
        return cls(kit.records("tasks"), session, kit.store.hold)

    def push(self, goal: str, detail: str | None = None) -> TaskFrame:
        """Begin a task as a part of the current one, or at the root where there is none.

        Args:
            goal: what is to be reached, to 500 characters; it becomes one line.
            detail: what is needed while it is worked on, to 20,000 characters.

        Returns:
            The new current task.

        Raises:
            InvalidTaskError: goal or detail is not what it may be; nothing was stored.
        """
        goal = checked_goal(goal)
        detail = None if detail is None else checked_text(detail, "detail")
        with self._turn():
            under = self.peek()
            begun = self.clock()
            frame = TaskFrame(
                id=_new_id(begun),
                goal=goal,
                detail=detail,
                session=self.session,
                parent=None if under is None else under.id,
                depth=0 if under is None else under.depth + 1,
                created_at=begun,
            )
            self.records.put([frame.as_record()])
        return frame

    def current(self) -> TaskFrame:
        """The current task. Raises `EmptyStackError` where there is none."""
        found = self.peek()
        if found is None:
            raise EmptyStackError(self.session)
        return found

    def pop(self, result: str, *, blocked: bool = False) -> TaskFrame:
        """End the current task; its result stays, its detail goes.

        Args:
            result: what came of it, to 20,000 characters; later tasks of the same parent
                are shown it.
            blocked: True where it could not be completed; the result says why.

        Returns:
            The task as it ended.

        Raises:
            EmptyStackError: there is no current task.
            InvalidTaskError: the result is not what it may be; nothing was changed.
        """
        result = checked_text(result, "result")
        with self._turn():
            ended = evolve(
                self.current(),
                detail=None,
                status="blocked" if blocked else "complete",
                result=result,
                ended_at=self.clock(),
            )
            self.records.put([ended.as_record()])
        return ended

    def peek(self) -> TaskFrame | None:
        """The current task; None where the stack is empty."""
        return max(self._where(status="active"), key=_height, default=None)

    def path(self) -> _Frames:
        """The tasks from the root to the current one; empty where the stack is."""
        active = {frame.id: frame for frame in self._where(status="active")}
        path: _Frames = []
        frame = max(active.values(), key=_height, default=None)
        seen = set[str]()
        while frame is not None:
            path.append(frame)
            seen.add(frame.id)
            above = frame.parent
            # Whoever imports records may make a ring of them.
            frame = (
                None if above is None or above in seen else active.get(above) or self._get(above)
            )
        return path[::-1]

    def sibling_results(self) -> _Frames:
        """The ended tasks of the current one's parent, those that ended last first.

        With an empty stack: the ended tasks at the root.
        """
        current = self.peek()
        parent = current.parent if current is not None else None
        ended = [frame for frame in self._where(parent=parent or "") if not frame.is_active]
        return sorted(ended, key=lambda frame: (frame.ended_at or frame.created_at, frame.id))[::-1]

    def children(self, frame_id: str) -> _Frames:
        """The tasks that are a part of this one, in the order in which they were pushed."""
        return sorted(self._where(parent=frame_id), key=_height)

    def list(self, limit: int = 20) -> _Frames:
        """The session's tasks, active and ended, newest first.

        Args:
            limit: how many at most.

        Raises:
            InvalidRequestError: the limit is below 1.
        """
        if type(limit) is not int or limit < 1:
            raise InvalidRequestError(f"limit must be at least 1, got {limit}")
        found = self.records.newest(limit, {"session": self.session or ""})
        return [TaskFrame.from_record(record) for record in found]

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        with _changing, self.hold():
            yield

    def _where(self, **fields: str) -> _Frames:
        filters = {"session": self.session or "", **fields}
        return [
            TaskFrame.from_record(record)
            for record in self.records.scan(filters)
            if self._is_own(record)
        ]

    def _get(self, frame_id: str) -> TaskFrame | None:
        found = [record for record in self.records.get(frame_id) if self._is_own(record)]
        return TaskFrame.from_record(found[0]) if found else None

    def _is_own(self, record: Record) -> bool:
        # A stack is a project's: what the user has in all projects is no part of it.
        return record.project == self.records.project


def _height(frame: TaskFrame) -> tuple[int, datetime, str]:
    return frame.depth, frame.created_at, frame.id


def _new_id(created_at: datetime) -> str:
    """An id that sorts as its time does, and that no other process makes."""
    milliseconds = max(0, int(created_at.timestamp() * 1000))
    return f"task_{milliseconds:011x}{secrets.token_hex(4)}"
