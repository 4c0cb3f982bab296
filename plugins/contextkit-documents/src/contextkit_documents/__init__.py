"""The `documents` source: documentation, configuration and project metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import hookimpl
from contextkit.models import Setting, SourceInfo

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, Indexer, IndexReport
    from contextkit.models import Detail, Style

__all__ = [
    "contextkit_format",
    "contextkit_index",
    "contextkit_query",
    "contextkit_source",
    "contextkit_truncate",
]

_GLOBS = "contextkit.indexing:wrong_globs"


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Documents",
        description="README, documentation, configuration and project metadata",
        priority=60,
        scale="calibrated",
        # A higher weight takes room from the code itself: .05 found most of SWE-QA's answers.
        answers={
            "overview": 1,
            "usage": 1,
            "setup": 1,
            "releases": 1,
            "decisions": 0.6,
            "history": 0.45,
            "failures": 0.3,
            "code": 0.05,
        },
        cacheable=True,
        indexed_fields=("file_path", "kind", "language"),
        item_tokens=100,
        kind_field="kind",
        settings={
            "include": Setting([], check=_GLOBS),
            "exclude": Setting([], check=_GLOBS, rule="more"),
            "max_file_bytes": Setting(500_000, least=1, rule="capped"),
        },
        owns_files=True,
        weight=1.5,
        dedup_key="file:{file_path}",
        tools="contextkit_documents.tools:TOOLS",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the best-matching chunks."""
    from contextkit_documents.finding import find_documents

    return await find_documents(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format each chunk under its headings and location.

    On one line, a chunk has both.
    """
    from contextkit_documents.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten configuration and metadata to the lines that match; others as the core does."""
    if item.metadata.get("kind") not in ("configuration", "metadata"):
        return None
    from contextkit_documents.excerpts import matching_lines

    return matching_lines(item, style, max_tokens, count, query)


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Index the documents that changed since the last run."""
    from contextkit_documents.index_run import index_documents

    return index_documents(indexer)
