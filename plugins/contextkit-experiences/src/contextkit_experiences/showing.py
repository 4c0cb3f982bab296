"""Experiences as text, for people and agents."""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.text import one_line
from contextkit_experiences.model import Experience
from contextkit_experiences.serialising import to_json
from contextkit_experiences.vocabulary import DOMAINS, STRATEGIES, meant_instead

_GOAL = 60


def one_line_of(experience: Experience) -> str:
    """Show id, status, domain, strategy and the goal's beginning."""
    goal = one_line(experience.goal)
    short = goal if len(goal) <= _GOAL else f"{goal[: _GOAL - 3].rstrip()}..."
    overturned = " (overturned)" if experience.valid_until is not None else ""
    return (
        f"{experience.id}  {experience.outcome_status}{overturned}  "
        f"{experience.domain} | {experience.strategy}  {short}"
    )


def slips_of(begun: Experience) -> Iterator[str]:
    """Yield warnings for likely misspellings of known words.

    A misspelled word finds nothing later, so the warning comes now.
    """
    for name, word, known in (
        ("domain", begun.domain, DOMAINS),
        ("strategy", begun.strategy, STRATEGIES),
    ):
        meant = meant_instead(word, known)
        if meant:
            yield f"the {name} '{word}' is a new one; did you mean '{meant}'?"


def page_of(experience: Experience) -> str:
    """Show every field that has a value, one per line."""
    lines = []
    for name, value in to_json(experience).items():
        if value is None or value == []:
            continue
        if isinstance(value, dict):
            lines += [f"{name}.{key}: {one_line(text)}" for key, text in value.items() if text]
        elif isinstance(value, list):
            lines += [f"{name}: {one_line(text)}" for text in value]
        else:
            lines.append(f"{name}: {one_line(str(value))}")
    return "\n".join(lines)
