"""The `patterns` source: procedures that worked, and their triggers.

The module is the plugin. `PatternBook` stores patterns from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import SourceInfo, hookimpl
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest
    from contextkit.models import Detail, Style
    from contextkit_patterns.book import PatternBook
    from contextkit_patterns.pattern import InvalidPatternError, Pattern, UnknownPatternError

__all__ = ["InvalidPatternError", "Pattern", "PatternBook", "UnknownPatternError"]

__getattr__ = lazy_names(
    __name__, book="PatternBook", pattern="InvalidPatternError Pattern UnknownPatternError"
)


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Applicable Patterns",
        description="procedures that worked before, with their success rates",
        priority=60,
        scale="calibrated",
        notes=True,
        cacheable=True,
        indexed_fields=("trigger_words", "name"),
        settings={},
        dedup_key="pattern:{id}",
        commands={
            "patterns": (
                "contextkit_patterns.commands:patterns",
                "Record procedures and how often they worked.",
            )
        },
        tools="contextkit_patterns.tools:TOOLS",
        book="contextkit_patterns.book:PatternBook",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the triggered or matching patterns, the most successful first."""
    from contextkit_patterns.finding import find_patterns

    return await find_patterns(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format name, success rate, triggers and steps."""
    from contextkit_patterns.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """Shorten a pattern to its name and steps.

    The success rate and the triggers are dropped first.
    """
    from contextkit_patterns.formatting import shortened

    return shortened(item, style, max_tokens, count)
