"""Find memories for a request, and those beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import (
    Validity,
    as_json,
    beside,
    best_supported,
    search_valid,
    sequence_supports,
    supported,
    with_chains,
)
from contextkit.text import closeness, named_dates
from contextkit_memories.errors import InvalidMemoryError
from contextkit_memories.memory import RUN, Memory, place_in_run, place_name
from contextkit_memories.truth import ANCHORS, with_marks
from contextkit_memories.words import category_spellings

_CONSIDERED = 50
"""Fewest hits examined.

A session's subject shows in several hits, even where fewer are requested.
"""

_SHOWN = ("id", "category", "importance", "created_at", "tags", "scope")
"""The parts of a memory in the metadata of its item."""

_DATE = 0.5
_SPEAKER = 0.2
_LABEL = re.compile(r"(?:\[[^\]\n]{1,40}\] )?(\w{1,40})(?: \w{1,40})?: ")
_WORD = re.compile(r"\w+")


async def find_memories(request: ContextRequest) -> list[ContextItem]:
    """Return the best-matching memories, with those beside them.

    Memories of the project and of the user are searched.
    """
    if request.records.known_empty:
        return []
    filters = _stored_filters(request.filters)
    weight, limit = request.neighbours, request.limit
    considered = max(limit, _CONSIDERED)
    hits = await search_valid(request, limit=considered, filters=filters, related=True)
    found = [(hit.record, hit.relevance) for hit in hits]
    items = [_item(record, relevance) for record, relevance in found]
    places = beside(items, weight, request.min_relevance, limit)
    if places:
        standing = await in_thread(lambda: _standing_at(places, request, filters))
        items += [_item(record, 0.0) for record in standing]
    best = best_supported(_with_hints(items, request.query), weight, limit)
    return await with_marks(await with_chains(best, request, _item), request)


def _with_hints(items: Sequence[ContextItem], query: str) -> list[ContextItem]:
    """Add hints to items: their session, date and speaker.

    A hint is never more than a part of the best match, so a question without matches gets none.
    """
    best = max((item.relevance for item in items), default=0.0)
    dates, words = named_dates(query), frozenset(_WORD.findall(query.casefold()))
    hinted = []
    # A run may be a whole import: a match of one of its memories says little about the others.
    in_sessions = [evolve(item, sequence=None) if _is_of_run(item) else item for item in items]
    for item, of_session in zip(items, sequence_supports(in_sessions), strict=True):
        near = closeness(dates, item.created_at) if item.created_at is not None else 0.0
        said = _SPEAKER if _speaker(item.content) in words else 0.0
        hint = supported(supported(of_session, _DATE * best * near), said * best)
        hinted.append(evolve(item, hint=hint) if hint else item)
    return hinted


def _is_of_run(item: ContextItem) -> bool:
    return item.sequence is not None and item.sequence.startswith(RUN)


def _speaker(text: str) -> str | None:
    """Return the speaker of a text, in lower case.

    A text such as `Ada: I won` begins with it.
    """
    found = _LABEL.match(text)
    return found[1].casefold() if found else None


def _standing_at(
    places: Iterable[tuple[str, int]], request: ContextRequest, filters: Mapping[str, Any]
) -> list[Record]:
    """Return the memories at these places, sorted by id."""
    names = [place_name(sequence, position) for sequence, position in places]
    standing = request.records.scan({**filters, "place": names})
    valid = (r for r in standing if Validity.of(r).refusal(request) is None)
    return sorted(valid, key=lambda record: record.id)


def _item(record: Record, relevance: float) -> ContextItem:
    memory = Memory.from_record(record)
    sequence, position = memory.sequence, memory.position
    # Turns of a conversation belong together; notes that a script wrote at once do not.
    if sequence is None and memory.run is not None and _speaker(memory.text):
        sequence, position = place_in_run(memory.run)
    return memory.as_item(
        "memories",
        relevance,
        salience=memory.importance,
        sequence=sequence,
        position=position,
        metadata={
            **{name: as_json(getattr(memory, name)) for name in _SHOWN},
            **({ANCHORS: memory.anchors} if memory.anchors else {}),
        },
    )


def _stored_filters(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request's filters in stored form.

    Categories are given in all their spellings, and tags in lower case.
    """
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
    # An invalid category matches none; the store reports an invalid filter.
    try:
        return category_spellings(word)
    except InvalidMemoryError:
        return (word,)
