"""Find what earlier sessions said, and in imported ones what stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import beside, best_supported, sequence_supports
from contextkit_events.event import place

_CONSIDERED = 50
_LENDING = 0.5
"""Part of the best match from which on a turn supports those beside it."""


async def find_past(
    request: ContextRequest,
    query: str,
    kinds: Sequence[str],
    as_item: Callable[[Record, float], ContextItem],
) -> list[ContextItem]:
    """Return events of earlier sessions that match, with the turns beside imported ones.

    Args:
        request: the request.
        query: what is searched for.
        kinds: values of `what`.
        as_item: makes an item of a record and its match.
    """
    filters = {"what": list(kinds), **request.filters}
    considered = max(request.limit, _CONSIDERED)
    hits = await request.records.search(query, limit=considered, filters=filters, related=True)
    least = _LENDING * max((hit.relevance for hit in hits), default=0.0)
    found = {
        # A word or two in common says nothing of the turns beside it.
        item.id: item if item.relevance >= least else evolve(item, position=None)
        for item in (as_item(hit.record, hit.relevance) for hit in hits if hit.keyword_score > 0)
        # An agent knows what was said in its own session.
        if item.metadata.get("imported") or item.metadata.get("earlier")
    }
    places = beside([*found.values()], request.neighbours, request.min_relevance, request.limit)
    if places:
        names = [place(*each) for each in places]
        turns = await in_thread(lambda: list(request.records.scan({**filters, "place": names})))
        for turn in turns:
            match = found[turn.id].relevance if turn.id in found else 0.0
            found[turn.id] = as_item(turn, match)
    items = [*found.values()]
    hinted = [
        evolve(item, hint=hint) if hint else item
        for item, hint in zip(items, sequence_supports(items), strict=True)
    ]
    return best_supported(hinted, request.neighbours, request.limit)
