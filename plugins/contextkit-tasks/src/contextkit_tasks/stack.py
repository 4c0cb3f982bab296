"""A session's task stack: push, pop, peek and path."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from attrs import evolve, field, frozen

from contextkit import Record, Records
from contextkit.sources import Book
from contextkit_tasks.frame import EmptyStackError, TaskFrame

if TYPE_CHECKING:
    from contextkit.models import Kit


_Frames = list[TaskFrame]


def _now() -> datetime:
    return datetime.now(UTC)


def _checked_session(session: str | None) -> str | None:
    return TaskFrame.checked({"session": session}).get("session")


@frozen
class TaskStack(Book[TaskFrame]):
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
        session: the session of the stack; default: the project's default stack.
        hold: locks the store for this process while a read and the write that follows are one
            transaction; default: no lock.
        clock: returns the time, aware; default: the system's.
    """

    source, entry = "tasks", TaskFrame

    records: Records
    session: str | None = field(default=None, converter=_checked_session)
    hold: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    clock: Callable[[], datetime] = field(default=_now, repr=False)

    @classmethod
    def of(cls, kit: Kit, session: str | None = None) -> Self:
        """Return a session's stack, locked against other processes on writes.

        Raises:
            InvalidContextTypeError: the source `tasks` is off.
            InvalidTaskError: the session's name is invalid.
        """
        return cls(kit.records("tasks"), session, kit.store.hold)

    def push(self, goal: str, detail: str | None = None) -> TaskFrame:
        """Begin a task below the current one.

        Without a current task, it begins at the root.

        Args:
            goal: the goal, up to 500 characters; it is stored as one line.
            detail: details needed during the work, up to 20,000 characters.

        Returns:
            The new current task.

        Raises:
            InvalidTaskError: goal or detail is invalid; nothing was stored.
        """
        given = TaskFrame.checked({"goal": goal, "detail": detail})
        with self.turn():
            under = self._top()
            begun = self.clock()
            frame = TaskFrame(
                id=TaskFrame.new_id(given, begun),
                session=self.session,
                parent=None if under is None else under.id,
                depth=0 if under is None else under.depth + 1,
                created_at=begun,
                project=self.records.project,
                **given,
            )
            return self.write(frame)

    def current(self) -> TaskFrame:
        """Return the current task.

        Raises `EmptyStackError` where there is none.
        """
        found = self.peek()
        if found is None:
            raise EmptyStackError(self.session)
        return found

    def pop(self, result: str, *, blocked: bool = False) -> TaskFrame:
        """End the current task: keep its result, drop its detail.

        Args:
            result: the result, up to 20,000 characters; it is shown to later tasks of the same
                parent.
            blocked: True where it could not be completed; the result says why.

        Returns:
            The task as it ended.

        Raises:
            EmptyStackError: there is no current task.
            InvalidTaskError: the result is invalid; nothing was changed.
        """
        given = TaskFrame.checked({"result": result})
        given["status"] = "blocked" if blocked else "complete"
        with self.turn():
            ended_at = self.clock()
            current = self.current()
            return self.write(evolve(current, detail=None, ended_at=ended_at, **given))

    def peek(self) -> TaskFrame | None:
        """Return the current task; None where the stack is empty."""
        top = self._top()
        return None if top is None else self._with_children([top])[0]

    def _top(self) -> TaskFrame | None:
        return max(self._where(status="active"), key=_height, default=None)

    def path(self) -> _Frames:
        """Return the tasks from the root to the current one.

        Empty where the stack is.
        """
        active = {frame.id: frame for frame in self._where(status="active")}
        path: _Frames = []
        frame = max(active.values(), key=_height, default=None)
        seen = set[str]()
        while frame is not None:
            path.append(frame)
            seen.add(frame.id)
            above = frame.parent
            # Imported records may form a cycle.
            frame = (
                None if above is None or above in seen else active.get(above) or self._get(above)
            )
        return self._with_children(path[::-1])

    def sibling_results(self) -> _Frames:
        """Return the ended siblings, the last ended first.

        They are the tasks of the current one's parent, or with an empty stack those at the root.
        """
        current = self._top()
        parent = current.parent if current is not None else None
        ended = [frame for frame in self._where(parent=parent or "") if not frame.is_active]
        ended.sort(key=lambda frame: (frame.ended_at or frame.created_at, frame.id), reverse=True)
        return self._with_children(ended)

    def children(self, frame_id: str) -> _Frames:
        """Return a task's subtasks in the order of pushing."""
        return self._with_children(sorted(self._where(parent=frame_id), key=_height))

    def list(self, limit: int = 20, **filters: Any) -> builtins.list[TaskFrame]:
        """List the session's tasks, active and ended, newest first."""
        return self._with_children(super().list(limit, session=self.session or "", **filters))

    def _with_children(self, frames: Sequence[TaskFrame]) -> _Frames:
        # A frame does not store them: a push would write its parent, which may be popped meanwhile.
        parts: dict[str, _Frames] = {frame.id: [] for frame in frames}
        for part in self._where(parent=[*parts]) if parts else ():
            if part.parent is not None:
                parts[part.parent].append(part)
        return [
            evolve(frame, children=tuple(p.id for p in sorted(parts[frame.id], key=_height)))
            for frame in frames
        ]

    def _where(self, **fields: str | Sequence[str]) -> _Frames:
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
        # A stack belongs to a project: the user's records in all projects are not part of it.
        return record.project == self.records.project


def _height(frame: TaskFrame) -> tuple[int, datetime, str]:
    return frame.depth, frame.created_at, frame.id
