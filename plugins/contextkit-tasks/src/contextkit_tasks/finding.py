"""Find tasks for a request: a stack's part, or matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextRequest, InvalidRequestError
from contextkit.concurrency import in_thread
from contextkit_tasks.frame import InvalidTaskError, TaskFrame
from contextkit_tasks.recipe import ROLES
from contextkit_tasks.stack import TaskStack

_CURRENT = 0.29
"""Score of the current task for any question.

Tasks further from it score less. It is below the best match of a question, which is seldom about
the current task alone.
"""
_SIBLING = 0.25
_FURTHER = 0.9
_LEAST = 0.2
_SIBLINGS_BESIDE = 5


async def find_tasks(request: ContextRequest) -> list[ContextItem]:
    """Return the tasks for a request, best first, each once.

    A filter `role` selects a part of the stack of the request's session: `root`, `path` (between
    root and current task), `siblings` (results) or `current`. Without it, the result is the tasks
    of all sessions that match the query, and the session's stack.

    Raises `InvalidRequestError` for an unknown role.
    """
    filters = dict(request.filters)
    stack = _stack_of(request)
    if "role" in filters:
        role = _checked_role(filters["role"])
        frames = await in_thread(lambda: _in_role(stack, role)) if stack else []
        return _weighed(frames, 1.0)[: request.limit]
    if request.records.known_empty:
        return []
    hits = await request.records.search(request.query, limit=request.limit, filters=filters)
    found = [_item(TaskFrame.from_record(hit.record), hit.relevance) for hit in hits]
    # Filters other than roles select records; the stack itself is then not included.
    standing = await in_thread(lambda: _standing(stack)) if stack and not filters else []
    return _best_first([*found, *standing])[: request.limit]


def _stack_of(request: ContextRequest) -> TaskStack | None:
    """Return the requesting session's stack.

    None where its name is invalid.
    """
    try:
        return TaskStack(request.records, request.session)
    except InvalidTaskError:
        return None


def _checked_role(role: Any) -> str:
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidRequestError(f"filter role: {role!r} is not one of {', '.join(ROLES)}")
    return role


def _in_role(stack: TaskStack, role: str) -> list[TaskFrame]:
    """Return a stack part's frames, the nearest first.

    The distance is that to the current task.
    """
    if role == "siblings":
        return stack.sibling_results()
    path = stack.path()
    if not path:
        return []
    *ancestors, current = path
    if role == "current":
        return [current]
    # A root that is the current task is shown as such, with its detail; ancestors only as goals.
    above = ancestors[:1] if role == "root" else ancestors[:0:-1]
    return [evolve(frame, detail=None) for frame in above]


def _standing(stack: TaskStack) -> list[ContextItem]:
    path = _weighed(stack.path()[::-1], _CURRENT)
    results = stack.sibling_results()[:_SIBLINGS_BESIDE]
    return [*path, *_weighed(results, _SIBLING)]


def _weighed(frames: Iterable[TaskFrame], first: float) -> list[ContextItem]:
    """Return items of frames, each scored below the previous one."""
    return [
        _item(frame, max(_LEAST, first * _FURTHER**place)) for place, frame in enumerate(frames)
    ]


def _best_first(items: Iterable[ContextItem]) -> list[ContextItem]:
    best: dict[str, ContextItem] = {}
    for item in items:
        known = best.get(item.id, item)
        best[item.id] = evolve(item, relevance=max(item.relevance, known.relevance))
    return sorted(best.values(), key=lambda item: (-item.relevance, item.id))


def _item(frame: TaskFrame, relevance: float) -> ContextItem:
    return frame.as_item("tasks", relevance, created_at=frame.ended_at or frame.created_at)
