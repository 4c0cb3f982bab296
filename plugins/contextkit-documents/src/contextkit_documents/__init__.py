"""The documents source of contextkit: documentation, configuration and project metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit.models.source import SourceInfo
from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, Indexer, IndexReport, Tool
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_index",
    "contextkit_query",
    "contextkit_source",
    "contextkit_tools",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Documents",
        description="README, documentation, configuration and project metadata",
        priority=60,
        scale="calibrated",
        # More of `code` takes room from the code itself: .05 found most of SWE-QA's answers.
        answers={"usage": 1, "decisions": 0.6, "history": 0.45, "failures": 0.3, "code": 0.05},
        cacheable=True,
        indexed_fields=("file_path", "kind", "language", "place"),
        kind_field="kind",
        settings={"include": [], "exclude": [], "max_file_bytes": 500_000},
        workspace_rules={"exclude": "more", "max_file_bytes": "capped"},
        owns_files=True,
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The chunks that match best, with those beside them in their file."""
    from contextkit_documents.finding import find_documents

    return await find_documents(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Each chunk under its headings and its place, or on one line with both."""
    from contextkit_documents.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 (the hook's signature)
    """Sections are longer than memories, and shorter than code."""
    return 1.5


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """The file: another source that shows a part of it, such as code, shares the key."""
    paths = (item.metadata.get("file_path") for item in items)
    return [[f"file:{path}"] if path else [] for path in paths]


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Index the documents that changed since the last run."""
    from contextkit_documents.index_run import index_documents

    return index_documents(indexer)


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.documents]`."""
    from contextkit_documents.settings import problems

    return problems(settings)


@hookimpl
def contextkit_tools() -> Sequence[Tool]:
    """`list_documents`."""
    from contextkit_documents.tools import TOOLS

    return TOOLS
