"""Find turns of past sessions that were imported, and those beside them."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import beside, best_supported, sequence_supports
from contextkit_events.event import PAST, place

_CONSIDERED = 50
_LENDING = 0.5
"""Part of the best match from which on a turn supports those beside it."""


async def find_past(
    request: ContextRequest, query: str, as_item: Callable[[Record, float], ContextItem]
) -> list[ContextItem]:
    """Return imported events that match, with those beside them.

    Args:
        request: the request.
        query: what is searched for.
        as_item: makes an item of a record and its match.
    """
    filters = {"what": PAST, **request.filters}
    considered = max(request.limit, _CONSIDERED)
    hits = await request.records.search(query, limit=considered, filters=filters, related=True)
    least = _LENDING * max((hit.relevance for hit in hits), default=0.0)
    items = [
        # A word or two in common says nothing of the turns beside it.
        item if item.relevance >= least else evolve(item, position=None)
        for item in (as_item(hit.record, hit.relevance) for hit in hits)
    ]
    places = beside(items, request.neighbours, request.min_relevance, request.limit)
    if places:
        names = [place(*each) for each in places]
        found = await in_thread(lambda: list(request.records.scan({**filters, "place": names})))
        known = {item.id for item in items}
        items += [as_item(record, 0.0) for record in found if record.id not in known]
    hinted = [
        evolve(item, hint=hint) if hint else item
        for item, hint in zip(items, sequence_supports(items), strict=True)
    ]
    return best_supported(hinted, request.neighbours, request.limit)
