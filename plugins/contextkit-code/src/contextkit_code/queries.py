"""Search the store for the units and the outlines of files that a request needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import evolve, frozen

from contextkit import ContextRequest, Hit
from contextkit.models import Filters
from contextkit_code.ranking.files import file_of
from contextkit_code.ranking.question import Question
from contextkit_code.ranking.siblings import (
    Listing,
    filters_of_type,
    kind_of,
    listings,
    members_of,
    searched_for,
    siblings_of,
    type_of,
)
from contextkit_code.ranking.tables import filters_of_tables
from contextkit_code.record_kinds import OUTLINE, UNIT

_UNITS = 150
_OUTLINES = 45
"""Hits that ranking reads.

More of either kind finds hardly anything more, and takes longer.
"""

_OF_A_KIND = 150
"""Outlines in which the siblings of something new are looked for."""

QUOTING = 50
"""Units found by a few words that some of them have."""

_UNITS_A_PLACE = 2
MOST_UNITS = 400
"""Units ranked per place of a long list, and in all."""

OF_FILES = frozenset({"file_path", "language", "created_at"})
"""Filters on files; an outline has these fields and no others."""


@frozen
class Found:
    """Units and outlines found by the first searches."""

    units: Sequence[Hit]
    outlines: Sequence[Hit]


async def search(request: ContextRequest, query: str) -> Found:
    """Search units and outlines; more units for a long list."""
    most = max(_UNITS, min(_UNITS_A_PLACE * request.limit, MOST_UNITS))
    return Found(
        *await asyncio.gather(search_units(request, query, most), search_outlines(request, query))
    )


async def search_units(
    request: ContextRequest, query: str, limit: int, paths: Sequence[str] | None = None
) -> list[Hit]:
    """Search the units of some files, or of all."""
    if not query or paths == []:
        return []
    of_files = {} if paths is None else {"file_path": paths}
    filters: Filters = {**request.filters, "kind": UNIT, **of_files}
    return await request.records.search(query, limit=limit, filters=filters)


async def search_outlines(request: ContextRequest, query: str, limit: int = _OUTLINES) -> list[Hit]:
    """Search the outlines; there are none if the request filters by what a file does not have."""
    if not query or not OF_FILES.issuperset(request.filters):
        return []
    filters: Filters = {**request.filters, "kind": OUTLINE}
    found = await request.records.search(query, limit=limit, filters=filters)
    # A host's own searcher has no outlines, and returns other records.
    return [hit for hit in found if hit.record.fields.get("kind") == OUTLINE]


async def search_tables(request: ContextRequest, question: Question) -> list[Hit]:
    """Search what the question calls a table."""
    filters = filters_of_tables(question.line)
    filtered = evolve(request, filters={**filters, **request.filters})
    return await search_units(filtered, request.query if filters else "", QUOTING)


async def search_listings(request: ContextRequest, query: str, question: Question) -> list[Listing]:
    """Search what lists the siblings of something that the query wants added."""
    kind = kind_of(query)
    if not kind:
        return []
    filters: Filters = {**filters_of_type(kind), **request.filters}
    outlines, types = await asyncio.gather(
        search_outlines(request, searched_for(kind), _OF_A_KIND),
        search_units(evolve(request, filters=filters), kind, QUOTING),
    )
    files = siblings_of(kind, map(file_of, outlines), question)
    siblings = files or members_of(types, question)
    if siblings is None:
        return []
    units = await search_units(request, " ".join(siblings.names), QUOTING)
    lists, own = listings(siblings, units, question), type_of(siblings, types, question)
    found: dict[str, Listing] = {}
    for listing in [*lists, *own] if files else [*own, *lists]:
        found.setdefault(listing.hit.record.id, listing)
    return [*found.values()]
