"""The code source of contextkit: the definitions of a workspace's files, found by keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit.models.source import SourceInfo
from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest, Indexer, IndexReport
    from contextkit.models.items import Detail, Style

__all__ = [
    "contextkit_check_settings",
    "contextkit_dedup_keys",
    "contextkit_format",
    "contextkit_index",
    "contextkit_query",
    "contextkit_source",
    "contextkit_truncate",
    "contextkit_weight",
]


@hookimpl
def contextkit_source() -> SourceInfo:
    """What the source says of itself."""
    return SourceInfo(
        title="Code",
        description="functions, classes and text of the workspace's files",
        priority=80,
        scale="calibrated",
        answers={
            "code": 1,
            "failures": 1,
            "usage": 0.8,
            "history": 0.5,
            "decisions": 0.3,
            "activity": 0.1,
        },
        cacheable=True,
        embedder="none",
        count_filters={"kind": "unit"},
        indexed_fields=("file_path", "kind", "language", "unit_type"),
        kind_field="unit_type",
        settings={"include": [], "exclude": [], "max_file_bytes": 1_000_000},
        workspace_rules={"exclude": "more", "max_file_bytes": "capped"},
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """The code units for a request, best first."""
    from contextkit_code.search import find_code

    return await find_code(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Each unit under a heading that says where it is, or on one line that does."""
    from contextkit_code.presentation import shown

    return [shown(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """The signature and the statements that match, the others left out."""
    from contextkit_code.truncation import truncated

    return truncated(item, style, max_tokens, count, query)


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:  # noqa: ARG001 (the hook's signature)
    """Code is verbose: twice the share of a source of short items."""
    return 2.0


@hookimpl
def contextkit_dedup_keys(items: Sequence[ContextItem]) -> list[list[str]]:
    """The file: what a commit of that one file is a duplicate of."""
    paths = (item.metadata.get("file_path") for item in items)
    return [[f"file:{path}"] if path else [] for path in paths]


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Index the files that changed since the last run."""
    from contextkit_code.index_run import index_code

    return index_code(indexer)


@hookimpl
def contextkit_check_settings(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with `[sources.code]`."""
    from contextkit_code.settings import problems

    return problems(settings)
