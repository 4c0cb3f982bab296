"""The `code` source: a workspace's definitions, found by keywords."""

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
    """Declare the source."""
    return SourceInfo(
        title="Code",
        description="functions, classes and text of the workspace's files",
        priority=80,
        scale="calibrated",
        answers={
            "code": 1,
            "failures": 1,
            "usage": 0.7,
            "setup": 0.8,
            "history": 0.5,
            "decisions": 0.3,
            "activity": 0.1,
        },
        cacheable=True,
        embedder="none",
        count_filters={"kind": "unit"},
        indexed_fields=("file_path", "kind", "language", "unit_type"),
        item_tokens=64,
        kind_field="unit_type",
        settings={
            "include": Setting([], check=_GLOBS),
            "exclude": Setting([], check=_GLOBS, rule="more"),
            "max_file_bytes": Setting(1_000_000, least=1, rule="capped"),
        },
        # Code is verbose, so the source gets twice the share of a source of short items.
        weight=2.0,
        dedup_key="file:{file_path}",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the code units for a request, best first."""
    from contextkit_code.search import find_code

    return await find_code(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format each unit under a heading or on one line.

    Both give the unit's location.
    """
    from contextkit_code.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten a unit to its signature and the matching statements."""
    from contextkit_code.truncation import truncated

    return truncated(item, style, max_tokens, count, query)


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Index the files that changed since the last run."""
    from contextkit_code.index_run import index_code

    return index_code(indexer)
