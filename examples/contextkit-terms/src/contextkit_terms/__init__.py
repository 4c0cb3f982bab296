"""The terms source: the words of a project, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit import ContextItem, ContextRequest, SourceInfo, hookimpl


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source."""
    return SourceInfo(
        title="Terms",
        description="the words of a project, and what they mean",
        scale="calibrated",
        notes=True,
        cacheable=True,
        settings={},
        dedup_key="term:{id}",
        commands={"terms": ("contextkit_terms.commands:terms", "Keep words and what they mean.")},
        tools="contextkit_terms.book:TOOLS",
        book="contextkit_terms.book:TermBook",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> Sequence[ContextItem]:
    """The terms that match, best first."""
    from contextkit_terms.book import TermBook

    return await TermBook.items_for(request)
