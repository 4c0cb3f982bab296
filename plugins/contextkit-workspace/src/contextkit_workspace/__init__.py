"""The `workspace` source: git status, edited and open files, structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import hookimpl
from contextkit.models import Setting, SourceInfo

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest
    from contextkit.models import Detail, Style

__all__ = [
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_truncate",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Workspace",
        description="git status, recently edited and open files, project structure",
        priority=80,
        scale="calibrated",
        answers={"activity": 1, "overview": 1, "history": 0.2},
        embedder="none",
        settings={
            "days": Setting(7.0, over=0, most=36_500, rule="free"),
            "depth": Setting(2, least=1, most=10, rule="free"),
            "open_files": Setting([], rule="free"),
        },
        weight=0.5,
        tools="contextkit_workspace.tools:TOOLS",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the current workspace state that the query is about."""
    from contextkit_workspace.finding import find_in_workspace

    return await find_in_workspace(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format each item under its name, or on one line."""
    from contextkit_workspace.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """Shorten the structure to its upper levels."""
    from contextkit_workspace.presentation import shortened

    return shortened(item, max_tokens, count)
