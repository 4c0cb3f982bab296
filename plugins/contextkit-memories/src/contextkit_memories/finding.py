"""Finding the memories for a request, and those that stand beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contextkit import ContextItem, ContextRequest, Record, Records
from contextkit.background import in_thread
from contextkit.ranking.neighbours import beside, best_supported
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.memory import Memory, place_name
from contextkit_memories.words import category_spellings

__all__ = ["find_memories"]


async def find_memories(request: ContextRequest) -> list[ContextItem]:
    """The memories of the project and of the user that match best, with those beside them."""
    filters = _stored_filters(request.filters)
    hits = await request.records.search(request.query, limit=request.limit, filters=filters)
    items = [_item(hit.record, hit.relevance) for hit in hits]
    weight, limit = request.neighbours, request.limit
    places = beside(items, weight, request.min_relevance, limit)
    if not places:
        return items
    found = await in_thread(lambda: _standing_at(places, request.records, filters))
    return best_supported([*items, *(_item(record, 0.0) for record in found)], weight, limit)


def _standing_at(
    places: Iterable[tuple[str, int]], records: Records, filters: Mapping[str, Any]
) -> list[Record]:
    """The memories at these places, in the order of their ids."""
    names = [place_name(sequence, position) for sequence, position in places]
    return sorted(records.scan({**filters, "place": names}), key=lambda record: record.id)


def _item(record: Record, relevance: float) -> ContextItem:
    memory = Memory.from_record(record)
    return ContextItem(
        source="memories",
        content=memory.text,
        relevance=relevance,
        id=memory.id,
        kind="memory",
        title=memory.title,
        created_at=memory.created_at,
        salience=memory.importance,
        location=f"memory {memory.id}",
        sequence=memory.sequence,
        position=memory.position,
        metadata={
            "id": memory.id,
            "category": memory.category,
            "importance": memory.importance,
            "created_at": memory.created_at.isoformat(),
            "tags": list(memory.tags),
            "scope": memory.scope,
        },
    )


def _stored_filters(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The request's filters, categories in all their spellings and tags in lower case."""
    stored = dict(filters)
    if "category" in stored:
        stored["category"] = [
            spelling for word in _words(stored["category"]) for spelling in _spellings(word)
        ]
    if "tags" in stored:
        stored["tags"] = [
            word.strip().lower() if isinstance(word, str) else word
            for word in _words(stored["tags"])
        ]
    return stored


def _words(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]


def _spellings(word: Any) -> tuple[Any, ...]:
    # What is no category can match none; the store says what is no filter at all.
    try:
        return category_spellings(word)
    except InvalidMemoryError:
        return (word,)
