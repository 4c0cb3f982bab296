"""The workspace source of contextkit: git status, edited and open files, project structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit.models.source import SourceInfo
from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, Tool
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_format",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Workspace",
        description="git status, recently edited and open files, project structure",
        priority=80,
        scale="calibrated",
        answers={"activity": 1, "history": 0.2},
        embedder="none",
        settings={"days": 7, "depth": 2, "open_files": []},
        workspace_rules={"days": "free", "depth": "free", "open_files": "free"},
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """What of the workspace's state the query is about, looked up now."""
    from contextkit_workspace.finding import find_in_workspace

    return await find_in_workspace(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Each under its name, or on one line."""
    from contextkit_workspace.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 (the hook's signature)
    """A few short lines: half the share of a source of short items."""
    return 0.5


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.workspace]`."""
    from contextkit_workspace.settings import problems

    return problems(settings)


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`report_open_files`."""
    from contextkit_workspace.tools import TOOLS

    return TOOLS
