"""The `experiences` source: GHAP entries, searchable on four axes.

An experience is a goal, a hypothesis, an action and a prediction, with their outcome.
`ExperienceBook` starts, updates, resolves, adds and lists them; the hooks below find and show them,
and offer the recipe `premortem`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import hookimpl
from contextkit.models import ContextItem, ContextRequest, Detail, RecipeTemplate, SourceInfo, Style
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit_experiences.book import ExperienceBook
    from contextkit_experiences.errors import (
        ExperienceError,
        ExperienceStateError,
        InvalidExperienceError,
        UnknownExperienceError,
    )
    from contextkit_experiences.model import Experience, Lesson
    from contextkit_experiences.serialising import from_json, to_json

__all__ = [
    "Experience",
    "ExperienceBook",
    "ExperienceError",
    "ExperienceStateError",
    "InvalidExperienceError",
    "Lesson",
    "UnknownExperienceError",
    "from_json",
    "to_json",
]

__getattr__ = lazy_names(
    __name__,
    book="ExperienceBook",
    errors="ExperienceError ExperienceStateError InvalidExperienceError UnknownExperienceError",
    model="Experience Lesson",
    serialising="from_json to_json",
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source: title, priority and filterable fields."""
    return SourceInfo(
        title="Experiences",
        description="past experiments: what was tried, expected and learned",
        priority=70,
        # Filters select a premortem's sections, and the selected experiences match in full.
        scale="calibrated",
        notes=True,
        cacheable=True,
        count_filters={"axis": "full"},
        indexed_fields=("axis", "domain", "strategy", "outcome_status", "ghap_id"),
        dated=True,
        settings={},
        weight=3.0,
        dedup_key="ghap:{id}",
        commands={
            "experience": (
                "contextkit_experiences.commands:experience",
                "Record what was tried and what happened.",
            )
        },
        tools="contextkit_experiences.tools:TOOLS",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """Return the matching experiences.

    They are searched on the axis `full` unless the filters name another.
    """
    from contextkit_experiences.items import find_experiences

    return await find_experiences(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> Sequence[str]:
    """Format goal, attempt, outcome and lesson in each style."""
    from contextkit_experiences.formatting import format_experience

    return [format_experience(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten an experience, keeping outcome, root cause and takeaway.

    A note with the id is added.
    """
    from contextkit_experiences.shortening import shorten

    return shorten(item, style, max_tokens, count, query)


@hookimpl
def contextkit_recipes() -> Sequence[RecipeTemplate]:
    """Return the recipe `premortem`."""
    from contextkit_experiences.recipe import PREMORTEM_TEMPLATE

    return [PREMORTEM_TEMPLATE]
