"""Finding tasks for a request: a part of the stack, or what answers a query."""

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
"""What the current task is worth to any question; what is further from it, less.

It alone is not what a question is about: less than the best match of one that is about something.
"""
_SIBLING = 0.25
_FURTHER = 0.9
_LEAST = 0.2
_SIBLINGS_BESIDE = 5


async def find_tasks(request: ContextRequest) -> list[ContextItem]:
    """The tasks for a request, best first, each once.

    A filter `role` asks for a part of the stack of the request's session: `root`, `path`
    (between root and current task), `siblings` (results) or `current`. Without it, it is
    what matches the query, among all sessions, and what stands on the session's stack.

    Raises `InvalidRequestError` for a role that there is none of.
    """
    filters = dict(request.filters)
    stack = _stack_of(request)
    if "role" in filters:
        role = _checked_role(filters["role"])
        frames = await in_thread(lambda: _in_role(stack, role)) if stack else []
        return _weighed(frames, 1.0)[: request.limit]
    hits = await request.records.search(request.query, limit=request.limit, filters=filters)
    found = [_item(TaskFrame.from_record(hit.record), hit.relevance) for hit in hits]
    # Other filters than roles choose among records; the stack as such is not what is asked.
    standing = await in_thread(lambda: _standing(stack)) if stack and not filters else []
    return _best_first([*found, *standing])[: request.limit]


def _stack_of(request: ContextRequest) -> TaskStack | None:
    """The stack of the session that asks; None where no stack may be called so."""
    try:
        return TaskStack(request.records, request.session)
    except InvalidTaskError:
        return None


def _checked_role(role: Any) -> str:
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidRequestError(f"filter role: {role!r} is not one of {', '.join(ROLES)}")
    return role


def _in_role(stack: TaskStack, role: str) -> list[TaskFrame]:
    """The frames of a part of the stack, the nearest to the current task first."""
    if role == "siblings":
        return stack.sibling_results()
    path = stack.path()
    if not path:
        return []
    *ancestors, current = path
    if role == "current":
        return [current]
    # A root that is the current task is shown as that, with its detail; ancestors as goals.
    above = ancestors[:1] if role == "root" else ancestors[:0:-1]
    return [evolve(frame, detail=None) for frame in above]


def _standing(stack: TaskStack) -> list[ContextItem]:
    path = _weighed(stack.path()[::-1], _CURRENT)
    results = stack.sibling_results()[:_SIBLINGS_BESIDE]
    return [*path, *_weighed(results, _SIBLING)]


def _weighed(frames: Iterable[TaskFrame], first: float) -> list[ContextItem]:
    """Items of frames, each worth less than the one before it."""
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
