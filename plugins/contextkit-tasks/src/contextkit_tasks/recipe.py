"""The recipe `task`: a context for the current task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from contextkit.errors import InvalidRequestError
from contextkit.models import Recipe, RecipeTemplate, Section
from contextkit.text import one_line

TASK = "task"
ROLES = ("root", "path", "siblings", "current")
SPLIT: Mapping[str, float] = {"root": 5.0, "path": 15.0, "siblings": 10.0, "current": 70.0}
"""Percent of the budget for each part.

`current` is the current task with all that is found for it.
"""

_TITLES = {
    "root": "Root Goal",
    "path": "Path to the Root",
    "siblings": "Sibling Results",
    "current": "Current Task",
}


def build_task_recipe(goal: str, sources: Mapping[str, float] | Sequence[str] = ()) -> Recipe:
    """Build the recipe for a task.

    Args:
        goal: the current task's goal, used as the query.
        sources: sources beside the stack: names, or name -> weight of its share of the current
            task's budget, where the task itself has weight 1.

    Raises:
        InvalidRequestError: the goal is no text, or the sources are no names or weights.
    """
    if not isinstance(goal, str) or not goal.strip():
        raise InvalidRequestError(f"goal: expected the current task's goal, got {goal!r}")
    weights = {"tasks": 1.0, **_checked_weights(sources)}
    unit = SPLIT["current"] / sum(weights.values())
    stack = tuple(_of_stack(role, goal, SPLIT[role]) for role in ("root", "path", "siblings"))
    found = tuple(
        Section(source=name, query=goal, weight=weight * unit, optional=True)
        for name, weight in weights.items()
        if name != "tasks"
    )
    current = _of_stack("current", goal, weights["tasks"] * unit)
    return Recipe(name=TASK, title=f"Task: {one_line(goal)}", sections=(*stack, current, *found))


TASK_TEMPLATE = RecipeTemplate(
    name=TASK,
    description="the current task: root goal, path, sibling results, and context for it",
    build=build_task_recipe,
)


def _of_stack(role: str, goal: str, weight: float) -> Section:
    return Section(
        source="tasks",
        key=role,
        title=_TITLES[role],
        query=goal,
        filters={"role": role},
        weight=weight,
    )


def _checked_weights(sources: Any) -> dict[str, float]:
    if isinstance(sources, Mapping):
        weights = dict(sources)
    elif isinstance(sources, Sequence) and not isinstance(sources, (str, bytes)):
        weights = dict.fromkeys(sources, 1.0)
    else:
        raise InvalidRequestError(f"sources: expected names, or name -> weight, got {sources!r}")
    for name, weight in weights.items():
        if not isinstance(name, str) or not name or name in ROLES:
            raise InvalidRequestError(f"sources: {name!r} is not a source's name")
        number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not number or not 0 < weight < math.inf:
            raise InvalidRequestError(f"sources: {name} must be a number over 0, got {weight!r}")
    weights.pop("tasks", None)
    return weights
