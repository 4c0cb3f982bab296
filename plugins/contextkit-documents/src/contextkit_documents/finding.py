"""Find a request's chunks and their neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import beside, best_supported
from contextkit_documents.stored import StoredChunk, place_name, titled

_ASKS_WHEN = re.compile(
    r"\b(?:since|versions?|releases?|released|changelog|when|seit|wann)\b|版本|バージョン",
    re.IGNORECASE,
)
_CHANGES = re.compile(r"(?:change|history|news|release|whats?[-_]?new)", re.IGNORECASE)
_CHANGES_GAIN = 1.3
"""Factor for changelog entries in questions about when something changed."""

_STUB = 0.5
"""Factor for the relevance of a section with hardly any text."""

_LEAST_WORDS = 4
_LONG = 2_000
# Words, but none in tags, comments, and links within the page, such as those of a table of
# contents.
_WORD = re.compile(r"<[^<>]*+>|\[[^\[\]\n]*+\]\(#[^()\n]*+\)|([^\W\d_]{2,})")


async def find_documents(request: ContextRequest) -> list[ContextItem]:
    """Return the best-matching chunks, and those their neighbours make relevant."""
    hits = await request.records.search(request.query, limit=request.limit, filters=request.filters)
    gain = _CHANGES_GAIN if _ASKS_WHEN.search(request.query) else 1.0
    items = [_item(hit.record, min(1.0, hit.relevance * _worth(hit.record, gain))) for hit in hits]
    items.sort(key=lambda item: -item.relevance)
    weight, limit = request.neighbours, request.limit
    places = beside(items, weight, request.min_relevance, limit)
    if not places:
        return items
    found = await in_thread(lambda: _standing_at(places, request))
    both = [*items, *(_item(record, 0.0) for record in found)]
    # The best ones by their neighbours' support; the core adds that to the match.
    best = best_supported(both, weight, limit)
    return sorted(best, key=lambda item: -item.relevance)


def _worth(record: Record, gain: float) -> float:
    """Return the factor of a match.

    It is lower for a few words, and is `gain` for a list of changes.
    """
    text, path = record.text, str(record.fields.get("file_path") or "")
    worth = gain if _CHANGES.match(path.rpartition("/")[2]) else 1.0
    # The words of a long text are not counted.
    return worth if len(text) > _LONG or _has_words(text) else worth * _STUB


def _has_words(text: str) -> bool:
    words = (found for found in _WORD.finditer(text) if found[1])
    return next(islice(words, _LEAST_WORDS - 1, None), None) is not None


def _standing_at(places: Iterable[tuple[str, int]], request: ContextRequest) -> list[Record]:
    """Return the records at these places, sorted by id."""
    names = [place_name(path, position) for path, position in places]
    found = request.records.scan({**request.filters, "place": names})
    return sorted(found, key=lambda record: record.id)


def _item(record: Record, relevance: float) -> ContextItem:
    chunk = StoredChunk.of(record)
    return ContextItem(
        source="documents",
        content=record.text,
        relevance=relevance,
        id=record.id,
        kind=chunk.kind,
        title=titled(chunk.kind, chunk.headings) or chunk.path or record.id,
        location=f"{chunk.path}:{chunk.start_line}" if chunk.path else None,
        sequence=chunk.path or None,
        position=chunk.position,
        metadata={
            "file_path": chunk.path,
            "kind": chunk.kind,
            "language": chunk.language,
            "headings": list(chunk.headings),
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
        },
    )
