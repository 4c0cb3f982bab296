"""Agent tools for patterns.

They are `add_pattern`, `pattern_applied`, `list_patterns` and `remove_pattern`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from contextkit import Tool, ToolResult
from contextkit.sources import add_tool, list_tool, remove_tool
from contextkit_patterns.book import PatternBook
from contextkit_patterns.pattern import Pattern

if TYPE_CHECKING:
    from contextkit import ContextKit


_ID = "the pattern's id, or its name"


def _applied(
    kit: ContextKit, pattern: Annotated[str, _ID], success: Annotated[bool, "whether it worked"]
) -> ToolResult[Pattern]:
    counted = PatternBook.of(kit).applied(pattern, success=success)
    return ToolResult(counted, PatternBook.counted_line(counted))


TOOLS = (
    add_tool(
        PatternBook,
        "Store a procedure that is worth doing again: its steps, and what calls for it. The "
        "same name again changes the one that is there and keeps its counts.",
        *("name", "steps", "keywords", "intents", "entity_types"),
    ),
    Tool(
        name="pattern_applied",
        description="Count that you applied a pattern, and whether it worked. Do so every time.",
        run=_applied,
    ),
    list_tool(
        PatternBook,
        "List the patterns, those that are expected to work first, with their ids.",
    ),
    remove_tool(
        PatternBook, "Delete a pattern for good, with what was counted of it.", asks_for=_ID
    ),
)
"""Agent tools for patterns."""
