"""The tools `add_pattern`, `pattern_applied`, `list_patterns` and `remove_pattern`, for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, cast

from contextkit import Tool, ToolResult
from contextkit_patterns.book import PatternBook
from contextkit_patterns.pattern import Pattern
from contextkit_patterns.showing import added_line, counted_line, lines_of

if TYPE_CHECKING:
    from contextkit import ContextKit

__all__ = ["TOOLS"]

_Id = Annotated[str, "the pattern's id, or its name"]
_Intent = Literal["question", "action", "fix", "explain", "other"]


class _Pattern(TypedDict):
    id: str
    name: str
    steps: list[str]
    keywords: list[str]
    intents: list[_Intent]
    entity_types: list[str]
    applications: int
    successes: int
    success_rate: Annotated[float, "how often it is expected to work the next time, 0 to 1"]
    scope: Literal["project", "user"]
    created_at: str
    applied_at: str | None


class _Added(_Pattern):
    outcome: Literal["stored", "updated", "unchanged"]


class _Listed(TypedDict):
    patterns: Annotated[list[_Pattern], "those that are expected to work first"]
    total: int


def _data(pattern: Pattern) -> _Pattern:
    return cast("_Pattern", pattern.as_dict())


def _add(
    kit: ContextKit,
    name: Annotated[str, "what it does, to 80 characters"],
    steps: Annotated[list[str], "what is done, in order, one line each"],
    keywords: Annotated[list[str] | None, "words or phrases of a query that call for it"] = None,
    intents: Annotated[list[_Intent] | None, "the intents it suits; default: any"] = None,
    entity_types: Annotated[list[str] | None, "what it is about, such as function"] = None,
    for_all_projects: Annotated[bool, "true for what is the user's everywhere"] = False,
) -> ToolResult[_Added]:
    pattern = PatternBook.of(kit).add(
        name,
        steps,
        keywords=keywords,
        intents=intents,
        entity_types=entity_types,
        shared=for_all_projects,
    )
    data = {**pattern.as_dict(), "outcome": pattern.outcome}
    return ToolResult(cast("_Added", data), added_line(pattern))


def _applied(
    kit: ContextKit, pattern: _Id, success: Annotated[bool, "whether it worked"]
) -> ToolResult[_Pattern]:
    counted = PatternBook.of(kit).applied(pattern, success=success)
    return ToolResult(_data(counted), counted_line(counted))


def _list(kit: ContextKit, limit: Annotated[int, "how many at most"] = 20) -> ToolResult[_Listed]:
    book = PatternBook.of(kit)
    found, total = book.list(limit), book.count()
    data: _Listed = {"patterns": [_data(each) for each in found], "total": total}
    return ToolResult(data, lines_of(found, total))


def _remove(kit: ContextKit, pattern: _Id) -> ToolResult[_Pattern]:
    removed = PatternBook.of(kit).remove(pattern)
    return ToolResult(_data(removed), f"Removed {removed.id}")


TOOLS = (
    Tool(
        name="add_pattern",
        description=(
            "Store a procedure that is worth doing again: its steps, and what calls for it. The "
            "same name again changes the one that is there and keeps its counts."
        ),
        run=_add,
    ),
    Tool(
        name="pattern_applied",
        description="Count that you applied a pattern, and whether it worked. Do so every time.",
        run=_applied,
    ),
    Tool(
        name="list_patterns",
        description="List the patterns, those that are expected to work first, with their ids.",
        run=_list,
        read_only=True,
    ),
    Tool(
        name="remove_pattern",
        description="Delete a pattern for good, with what was counted of it.",
        run=_remove,
        destructive=True,
    ),
)
"""What agents can do with patterns."""
