"""The `commits` source: the history of the workspace's git repository."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import Setting, SourceInfo, hookimpl

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


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source."""
    return SourceInfo(
        title="Commits",
        description="the history of the workspace's git repository",
        priority=50,
        # The store's relevance, raised or lowered by the subject within 0..1; 1 for a named commit.
        scale="calibrated",
        # A higher weight takes room from the code itself: .02 found most of SWE-QA's answers.
        answers={
            "history": 1,
            "releases": 0.5,
            "decisions": 0.5,
            "activity": 0.5,
            "failures": 0.2,
            "setup": 0.2,
            "code": 0.02,
        },
        item_tokens=64,
        cacheable=True,
        embedder="default",
        indexed_fields=("author", "sha7"),
        dated=True,
        settings={
            # Nearly every repository is smaller. In the few larger ones the first run would take
            # from minutes to hours, for commits that are many years old.
            "max_commits": Setting(100_000, least=0),
            # Seconds without output after which git times out.
            "git_timeout": Setting(60.0, over=0, most=86_400, rule="lower"),
        },
        weight=2.0,
        # Not the file of a one-file commit: its message does not say what the code says.
        dedup_key="sha:{sha}",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """Return the commits named by sha, then the best matches."""
    from contextkit_commits.search import find_commits

    return await find_commits(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> Sequence[str]:
    """Format commits: heading, message and first files.

    With less detail, only the subject is shown.
    """
    from contextkit_commits.formatting import format_commit

    return [format_commit(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str:
    """Shorten to heading, subject and the body's matching sentences."""
    from contextkit_commits.truncation import truncate_commit

    return truncate_commit(item, style, max_tokens, count, query)


@hookimpl
def contextkit_index(indexer: Indexer) -> IndexReport:
    """Sync the stored commits with those reachable from HEAD."""
    from contextkit_commits.index_run import index_commits

    return index_commits(indexer)
