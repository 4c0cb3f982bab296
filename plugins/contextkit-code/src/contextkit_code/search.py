"""Finding the code that a request needs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Hit
from contextkit.records import Filters
from contextkit_code.ranking.files import RankedFile, file_of, rank_files
from contextkit_code.ranking.question import ask
from contextkit_code.ranking.quotes import phrases_in, quoted_first
from contextkit_code.ranking.units import cut, ranked_units
from contextkit_code.record_kinds import OUTLINE, UNIT

__all__ = ["find_code"]

_UNITS = 150
_OUTLINES = 45
"""What ranking looks at: more of either finds hardly more, and takes longer."""

_QUOTING = 50
_UNITS_A_PLACE = 2
_MOST_UNITS = 400
"""A long list is made from more units, so many for each of its places."""

_UNITS_OF_A_FILE = 2
_LEADING_FILES = 10
_WHOLE_FILES = 3
_LONG_LIST = 50
"""A list longer than this also gets the rest of the best files."""

_OF_FILES = frozenset({"file_path", "language", "created_at"})
"""Filters that say which files are wanted; an outline has these fields and no others."""

_METADATA = (
    "file_path",
    "start_line",
    "end_line",
    "language",
    "qualified_name",
    "name",
    "unit_type",
    "signature",
    "docstring",
)


async def find_code(request: ContextRequest) -> list[ContextItem]:
    """The code units for a request, best first.

    Units and outlines of files are searched in one batch; files are ranked by both and by
    what names and paths say, and their units by the keywords and by their file. Units that
    hold what the query quotes come first. Relevance
    says how much of the query the best of what was found answers, and how the others compare
    with it.
    """
    phrases = phrases_in(request.query)
    units, outlines, quoting = await asyncio.gather(
        _units(request), _outlines(request), _quoting(request, phrases)
    )
    question = ask(request.query)
    level = max((hit.relevance for hit in (*units, *outlines)), default=0.0)
    files = await _with_units(request, rank_files(question, units, outlines)[: request.limit])
    ranked = ranked_units(question, files, level)
    if phrases:
        ranked = quoted_first(phrases, _joined(units, quoting), ranked, level)
    found = cut(ranked, request.limit)
    return [_item(unit.hit, unit.relevance) for unit in found]


async def _units(request: ContextRequest) -> list[Hit]:
    limit = max(_UNITS, min(_UNITS_A_PLACE * request.limit, _MOST_UNITS))
    filters: Filters = {**request.filters, "kind": UNIT}
    return await request.records.search(request.query, limit=limit, filters=filters)


async def _quoting(request: ContextRequest, phrases: Sequence[str]) -> list[Hit]:
    """Units that may hold what the query quotes."""
    if not phrases:
        return []
    filters: Filters = {**request.filters, "kind": UNIT}
    return await request.records.search(" ".join(phrases), limit=_QUOTING, filters=filters)


async def _outlines(request: ContextRequest) -> list[Hit]:
    if not _OF_FILES.issuperset(request.filters):
        return []
    filters: Filters = {**request.filters, "kind": OUTLINE}
    found = await request.records.search(request.query, limit=_OUTLINES, filters=filters)
    # A host's own searcher knows of no outlines, and answers with what it has.
    return [hit for hit in found if hit.record.fields.get("kind") == OUTLINE]


async def _with_units(request: ContextRequest, files: Sequence[RankedFile]) -> list[RankedFile]:
    """The same files with more of their units: the best of those that only outlines found.

    In a long list the best files have all of theirs.
    """
    leading = files[: max(_LEADING_FILES, request.limit // 2)]
    bare = [file.path for file in leading if not file.units]
    whole = [file.path for file in files[:_WHOLE_FILES] if request.limit > _LONG_LIST]
    found, rest = await asyncio.gather(
        _units_of(request, request.query, bare, _UNITS_OF_A_FILE * len(bare)),
        # Every unit has its path among its keywords.
        _units_of(request, " ".join(whole), whole, request.limit),
    )
    more: dict[str, list[Hit]] = {}
    for hit in (*found, *(evolve(hit, relevance=0.0) for hit in rest)):
        more.setdefault(file_of(hit), []).append(hit)
    return [evolve(file, units=_joined(file.units, more.get(file.path, ()))) for file in files]


async def _units_of(
    request: ContextRequest, query: str, paths: Sequence[str], limit: int
) -> list[Hit]:
    if not paths:
        return []
    filters: Filters = {**request.filters, "kind": UNIT, "file_path": paths}
    return await request.records.search(query, limit=limit, filters=filters)


def _joined(hits: Sequence[Hit], more: Sequence[Hit]) -> list[Hit]:
    """All of them; of two of one record the first."""
    by_id: dict[str, Hit] = {}
    for hit in (*hits, *more):
        by_id.setdefault(hit.record.id, hit)
    return list(by_id.values())


def _item(hit: Hit, relevance: float) -> ContextItem:
    record = hit.record
    path, line = record.fields.get("file_path", ""), record.fields.get("start_line", 1)
    return ContextItem(
        source="code",
        content=record.text,
        relevance=min(1.0, max(0.0, relevance)),
        metadata={key: record.fields[key] for key in _METADATA if key in record.fields},
        id=record.id,
        kind=record.fields.get("unit_type", "lines"),
        title=record.fields.get("qualified_name", record.id),
        text=record.text,
        location=f"{path}:{line}" if path else None,
    )
