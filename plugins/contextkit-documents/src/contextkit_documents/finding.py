"""Finding the chunks for a request, and those that stand beside them in their document."""

from __future__ import annotations

from collections.abc import Iterable

from contextkit import ContextItem, ContextRequest, Record
from contextkit.background import in_thread
from contextkit.neighbours import beside, best_supported
from contextkit_documents.naming import place_name, titled

__all__ = ["find_documents"]


async def find_documents(request: ContextRequest) -> list[ContextItem]:
    """The chunks that match best, with those that their neighbours make relevant."""
    hits = await request.records.search(request.query, limit=request.limit, filters=request.filters)
    items = [_item(hit.record, hit.relevance) for hit in hits]
    weight, limit = request.neighbours, request.limit
    places = beside(items, weight, request.min_relevance, limit)
    if not places:
        return items
    found = await in_thread(lambda: _standing_at(places, request))
    both = [*items, *(_item(record, 0.0) for record in found)]
    # Which are worth most with their neighbours' support; the core adds that to the match.
    best = best_supported(both, weight, limit)
    return sorted(best, key=lambda item: -item.relevance)


def _standing_at(places: Iterable[tuple[str, int]], request: ContextRequest) -> list[Record]:
    """The records at these places, in the order of their ids."""
    names = [place_name(path, position) for path, position in places]
    found = request.records.scan({**request.filters, "place": names})
    return sorted(found, key=lambda record: record.id)


def _item(record: Record, relevance: float) -> ContextItem:
    fields = record.fields
    path = str(fields.get("file_path", ""))
    kind = str(fields.get("kind", "documentation"))
    headings = [str(heading) for heading in fields.get("headings", ())]
    return ContextItem(
        source="documents",
        content=record.text,
        relevance=relevance,
        id=record.id,
        kind=kind,
        title=titled(kind, headings) or path or record.id,
        location=f"{path}:{fields.get('start_line', 1)}" if path else None,
        sequence=path or None,
        position=fields.get("position") if path else None,
        metadata={
            "file_path": path,
            "kind": kind,
            "language": str(fields.get("language", "")),
            "headings": headings,
            "start_line": fields.get("start_line", 1),
            "end_line": fields.get("end_line", 1),
        },
    )
