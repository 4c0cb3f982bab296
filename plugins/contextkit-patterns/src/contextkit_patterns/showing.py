"""Patterns in words, for people and for agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit_patterns.pattern import Pattern

__all__ = ["added_line", "counted_line", "lines_of"]

_DID = {"stored": "Added", "updated": "Updated", "unchanged": "Already there:"}


def added_line(pattern: Pattern) -> str:
    """What adding did."""
    whose = "all your projects" if pattern.scope == "user" else "this project"
    steps = "1 step" if len(pattern.steps) == 1 else f"{len(pattern.steps)} steps"
    return f"{_DID[pattern.outcome]} {pattern.id} ({steps}, {whose})"


def counted_line(pattern: Pattern) -> str:
    """How often it worked by now."""
    return f"{pattern.id}: worked {pattern.successes} of {pattern.applications} times"


def lines_of(patterns: Sequence[Pattern], total: int) -> str:
    """A line for each, and how many there are where that is more."""
    width = max((len(pattern.id) for pattern in patterns), default=0)
    lines = [
        f"{each.rate:.2f}  {each.successes} of {each.applications}  {each.id:<{width}}  {each.name}"
        for each in patterns
    ]
    if total > len(patterns):
        lines.append(f"{len(patterns)} of {total} patterns")
    return "\n".join(lines) or "No patterns."
