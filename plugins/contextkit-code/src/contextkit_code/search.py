"""Finding the code that a request needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from contextkit import ContextItem, ContextRequest, Hit

__all__ = ["find_code"]

_OVERFETCH = 3
_TEST_PENALTY = 0.5
_NAMED_BOOST = 0.9
_HOLDS_NAMED_BOOST = 0.5
_BESIDE_NAMED = 0.8

_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testdata)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|spec)s?\.\w+|[^/]*Tests?\.[a-z]+)$"
)
_ASKS_FOR_TESTS = re.compile(r"\b(?:test(?:s|ed|ing)?|specs?|fixtures?|mocks?)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*")
_PLAIN_WORD = re.compile(r"[a-z]+|[A-Z]+")
_CAPITALISED = re.compile(r"[A-Z][a-z]*")
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

    More hits are fetched than are asked for: tests count half unless the query speaks of
    tests, and a definition that the query names exactly comes before what only uses it.
    """
    hits = await request.records.search(
        request.query, limit=request.limit * _OVERFETCH, filters=request.filters
    )
    names = _names_in(request.query)
    boosts = [_boost(hit.record.fields, names) for hit in hits]
    unnamed = _BESIDE_NAMED if any(boosts) else 1.0
    wants_tests = _ASKS_FOR_TESTS.search(request.query) is not None
    items = [
        _item(hit, hit.relevance + (1 - hit.relevance) * boost)
        if boost
        else _item(hit, hit.relevance * unnamed * (1.0 if wants_tests else _penalty(hit)))
        for hit, boost in zip(hits, boosts, strict=True)
    ]
    items.sort(key=lambda item: -item.relevance)
    return items[: request.limit]


def _names_in(query: str) -> frozenset[str]:
    """What in a query can only be a name: not a word or an acronym, or the whole query."""
    if _NAME.fullmatch(query.strip()):
        found = [query.strip()]
    else:
        found = [
            match[0]
            for match in _NAME.finditer(query)
            if not _PLAIN_WORD.fullmatch(match[0])
            # The first word of a sentence has a capital anyway.
            and not (match.start() == 0 and _CAPITALISED.fullmatch(match[0]))
        ]
    return frozenset(re.sub(r"::|#", ".", name) for name in found)


def _penalty(hit: Hit) -> float:
    is_test = _TEST_PATH.search(str(hit.record.fields.get("file_path", "")))
    return _TEST_PENALTY if is_test else 1.0


def _boost(fields: Mapping[str, Any], names: frozenset[str]) -> float:
    # A window carries the name of what it is a part of; only a definition is named.
    if not names or not fields.get("signature"):
        return 0.0
    if names & {fields.get("name"), fields.get("qualified_name")}:
        return _NAMED_BOOST
    held = fields.get("defines", ())
    if any(name in names or name.rpartition(".")[2] in names for name in held):
        return _HOLDS_NAMED_BOOST
    return 0.0


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
