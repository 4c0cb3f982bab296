"""Find experiences for a request, as items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import evolve

from contextkit.concurrency import in_thread
from contextkit.errors import InvalidRequestError
from contextkit.models import ContextItem, ContextRequest, Filters, Hit, Records, Successor
from contextkit.sources import Validity, search_valid, with_validity
from contextkit.text import one_line
from contextkit_experiences.axes import narrative, record_id
from contextkit_experiences.recipe import PREMORTEM
from contextkit_experiences.vocabulary import AXES, OPEN, SALIENCE

_TITLE = 80
# The number of candidates for each of a premortem's warnings, and the most candidates in all.
_WARNINGS_PER_ITEM = 5
_MOST_WARNINGS = 200


async def find_experiences(request: ContextRequest) -> list[ContextItem]:
    """Return the matching experiences, best first, each once.

    They are searched on the axis `full` unless the request's filters name another one. Raises
    `InvalidRequestError` for an unknown axis.
    """
    filters = {"axis": "full", **request.filters}
    _check_axes(filters["axis"])
    if request.recipe == PREMORTEM:
        return await _warnings(request, filters)
    hits = await search_valid(request, limit=request.limit, filters=filters)
    found = _distinct(_item(hit) for hit in hits)
    overturned = [item for item in found if item.valid_until is not None]
    if not overturned:
        return found
    return await in_thread(lambda: [_overturned(item, request.records) for item in found])


async def _warnings(request: ContextRequest, filters: Filters) -> list[ContextItem]:
    """Return the filtered experiences: most trustworthy first, then latest.

    A premortem's questions are its filters: their words say nothing about the work ahead, and
    whatever the filters select matches in full. With equal relevance on every axis, an experience
    that several sections found stands in the first of them. Open experiences have no outcome to
    warn with, and are left out.
    """
    limit = max(request.limit, min(_WARNINGS_PER_ITEM * request.limit, _MOST_WARNINGS))
    hits = await request.records.search(
        request.query, limit=limit, filters=filters, host_limit=request.limit
    )
    found = _distinct(
        evolve(_item(hit), relevance=1.0)
        for hit in hits
        if hit.record.fields.get("outcome_status") != OPEN
        and Validity.of(hit.record).refusal(request) is None
    )
    found.sort(key=lambda item: (-(item.salience or 0.0), -_seconds(item), item.id))
    return found[: request.limit]


def _seconds(item: ContextItem) -> float:
    return item.created_at.timestamp() if item.created_at else 0.0


def _distinct(items: Iterable[ContextItem]) -> list[ContextItem]:
    """Drop items whose experience already came on another axis."""
    found: dict[str, ContextItem] = {}
    for item in items:
        found.setdefault(item.id, item)
    return list(found.values())


def _check_axes(wanted: Any) -> None:
    for axis in wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]:
        if axis not in AXES:
            raise InvalidRequestError(f"filter axis: {axis!r} is not one of {', '.join(AXES)}")


def _item(hit: Hit) -> ContextItem:
    record, fields = hit.record, hit.record.fields
    ghap_id = str(fields.get("ghap_id") or record.id)
    whole = narrative(fields)
    item = ContextItem(
        source="experiences",
        content=whole,
        relevance=hit.relevance,
        metadata={**fields, "id": ghap_id},
        id=ghap_id,
        kind="experience",
        text=whole,
        title=_shortened(one_line(str(fields.get("goal") or ghap_id))),
        created_at=record.created_at,
        salience=SALIENCE.get(fields.get("confidence_tier") or ""),
        location=ghap_id,
        must_keep=tuple(_teachings(fields)),
    )
    return with_validity(item, record)


def _overturned(item: ContextItem, records: Records) -> ContextItem:
    """Name what overturned an item's outcome."""
    by = item.metadata.get("replaced_by")
    found = records.get(record_id(by, "full")) if isinstance(by, str) else []
    if item.valid_until is None or not found:
        return item
    result = found[0].fields.get("outcome_result") or found[0].fields.get("goal")
    title = _shortened(one_line(str(result)))
    successor = Successor(str(by), found[0].created_at, str(by), title)
    return evolve(item, superseded_by=successor)


def _teachings(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield an experience's root cause and lesson."""
    lesson = fields.get("lesson")
    taught = lesson if isinstance(lesson, Mapping) else {}
    for text in (fields.get("root_cause"), taught.get("what_worked"), taught.get("takeaway")):
        if text:
            yield one_line(str(text))


def _shortened(title: str) -> str:
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 3].rstrip()}..."
