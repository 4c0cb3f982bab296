"""The plugin `relations`: relations around the entities of a query.

Its records are those of the source `entities`, which stores both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contextkit import Setting, SourceInfo, hookimpl
from contextkit_entities.settings import DEPTH, MOST_DEPTH

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextRequest
    from contextkit.models import Detail, Style


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: its section follows the entities."""
    return SourceInfo(
        title="Relationships",
        description="relations of the entities that the question mentions",
        priority=65,
        scale="calibrated",
        answers={"code": 0.03},
        embedder="none",
        cacheable=True,
        settings={"depth": Setting(DEPTH, least=0, most=MOST_DEPTH, rule="free")},
        reads=("entities",),
        records_of="entities",
        count_filters={"kind": "relation"},
        weight=0.5,
        dedup_key="relation:{id}",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return relations around mentioned or best-matching entities."""
    from contextkit_entities.asking import ask_for_relations

    return await ask_for_relations(request)


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format both names and the relation's type on one line."""
    from contextkit_entities.formatting import formatted_relation

    return [formatted_relation(item, style, detail) for item in items]


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str:
    """Shorten relations by dropping their properties.

    A relation whose rest does not fit is left out.
    """
    from contextkit_entities.formatting import shortened_relation

    return shortened_relation(item, style, max_tokens, count)
