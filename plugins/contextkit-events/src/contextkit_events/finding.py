"""Find the session's newest events and earlier sessions' highlights."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import supported
from contextkit.text import closeness, named_dates, without_periods
from contextkit_events.asked import asks_for_activity
from contextkit_events.event import EVENTS, PAST, SESSIONS, TURNS, Event
from contextkit_events.formatting import happened, headline
from contextkit_events.past import find_past

_HIGHLIGHTS = 50
_HOUR = 3600.0
_STEPS = 24
_LIFT = 1.1
_DATE = 0.5
_ASKED = 0.3
"""Base score of any event where the query asks for events."""

_UNASKED_RECENCY = 0.25
"""Weight of recency where the query does not ask for events."""

_ALL, _RECORDED = slice(None), slice(1)
"""Parts of `EVENTS`, `TURNS` and `SESSIONS`."""


async def find_events(request: ContextRequest) -> list[ContextItem]:
    """Return the current or latest session's events and earlier highlights.

    An item's relevance is how well it answers the query and, for a quarter, how recent it is, so
    that items that say nothing on a question come last. Where the query asks for the latest
    activity, recency counts half, and every event counts as an answer. Events of the kinds that
    matter for the query's intent get a tenth more. Older events of the session, beyond the newest,
    are included where they answer the query. Of the newest events that do not answer it, only a few
    are included, unless the query asks for events. Turns of earlier sessions and imported events
    are included where they answer the query.
    """
    if request.records.known_empty:
        return []
    query, asked = without_periods(request.query), asks_for_activity(request.query)
    shown = _ALL if asked else _RECORDED
    current, *earlier = (await in_thread(lambda: _sessions(request, shown))) or [""]
    recent, past = await asyncio.gather(
        _recent_events(request, query, shown, current, earlier),
        # The latest activity is the current session's.
        find_past(
            request,
            query,
            PAST if asked else [*PAST, *TURNS],
            lambda record, match: _as_item(record, match, current),
        ),
    )
    items = _without_repeats([*recent, *past])
    newest_first = sorted(_with_hints(items, request.query), key=_age_and_id)
    best_first = sorted(newest_first, key=lambda item: -supported(item.relevance, item.hint))
    return best_first[: request.limit]


async def _recent_events(
    request: ContextRequest, query: str, shown: slice, current: str, earlier: list[str]
) -> list[ContextItem]:
    if not current:
        return []
    settings, now, asked = request.settings, datetime.now(UTC), shown is _ALL
    found = await in_thread(lambda: _windows(request, shown, current, earlier))
    sessions = {"what": [*EVENTS[shown], *TURNS[shown]], "session": [current, *earlier]}
    hits = await request.records.search(
        query,
        limit=max(request.limit, len(found)),
        filters={**sessions, **request.filters},
        related=True,
    )
    matches = {hit.record.id: hit.relevance for hit in hits}
    for hit in hits:
        # A vector resembles every question a little: shared words show which events answer it.
        if hit.keyword_score > 0 and _is_event_of(hit.record, current):
            found.setdefault(hit.record.id, hit.record)
    if not asked:
        found = _few_beside(found, matches, request.min_relevance, settings["beside"])
    kinds = request.signals.kinds
    return [
        _lifted(_item(record, matches.get(record.id, 0.0), current, settings, now, asked), kinds)
        for record in found.values()
    ]


def _with_hints(items: list[ContextItem], query: str) -> list[ContextItem]:
    """Add a hint to items of dates in the query."""
    dates = named_dates(query)
    if not dates or not items:
        return items
    most = _DATE * max(item.relevance for item in items)
    return [
        evolve(item, hint=supported(item.hint, most * closeness(dates, item.created_at)))
        if item.created_at
        else item
        for item in items
    ]


def recency(created_at: datetime, now: datetime, half_life_hours: float) -> float:
    """Score recency: 1 now, halved after each half-life.

    The score decreases in steps, 24 per half-life, so that a repeated question has the same answer.
    """
    hours = max(0.0, (now - created_at).total_seconds() / _HOUR)
    steps = math.floor(hours / half_life_hours * _STEPS)
    return float(0.5 ** (steps / _STEPS))


def _sessions(request: ContextRequest, shown: slice) -> list[str]:
    """Return the current session and those before it, latest first."""
    most = request.settings["sessions"] + 1
    # Several transcripts of a session have several records.
    records = request.records.newest(2 * most, {"what": SESSIONS[shown]})
    names = [str(record.fields.get("session")) for record in records]
    current = [request.session] if request.session and names else []
    return list(dict.fromkeys([*current, *names]))[:most]


def _windows(
    request: ContextRequest, shown: slice, current: str, earlier: list[str]
) -> dict[str, Record]:
    """Return the newest events, turns and highlights, after filtering."""
    settings, events = request.settings, EVENTS[shown]
    wanted: list[tuple[int, dict[str, Any]]] = [
        (settings["recent"], {"what": events, "session": current}),
        (settings["turns"], {"what": TURNS[shown], "session": current}),
    ]
    if earlier:
        wanted.append((_HIGHLIGHTS, {"what": events, "highlight": True, "session": earlier}))
    return _by_id(
        record
        for most, filters in wanted
        for record in request.records.newest(most, {**filters, **request.filters})
    )


def _by_id(records: Iterable[Record]) -> dict[str, Record]:
    # A request's own filter on sessions or kinds may match the log's records of sessions.
    return {r.id: r for r in records if r.fields.get("what") not in SESSIONS}


def _few_beside(
    found: Mapping[str, Record], matches: Mapping[str, float], floor: float, most: int
) -> dict[str, Record]:
    """Return the matching events and the newest few others."""
    newest_first = sorted(found.values(), key=lambda it: (-it.created_at.timestamp(), it.id))
    rest = [record.id for record in newest_first if matches.get(record.id, 0.0) < floor]
    left_out = frozenset(rest[most:])
    return {name: record for name, record in found.items() if name not in left_out}


def _age_and_id(item: ContextItem) -> tuple[float, str]:
    return (0.0 if item.created_at is None else -item.created_at.timestamp(), item.id)


def _is_event_of(record: Record, session: str) -> bool:
    return record.fields.get("session") == session and record.fields.get("what") in EVENTS


def _lifted(item: ContextItem, kinds: Collection[str]) -> ContextItem:
    return evolve(item, relevance=min(1.0, _LIFT * item.relevance)) if item.kind in kinds else item


def _relevance(recent: float, match: float, asked: bool) -> float:
    if asked:
        return 0.5 * recent + _ASKED + (0.5 - _ASKED) * match
    return _UNASKED_RECENCY * recent + (1 - _UNASKED_RECENCY) * match


def _without_repeats(items: Iterable[ContextItem]) -> list[ContextItem]:
    """Keep the most relevant of the items of one event."""
    best: dict[str, ContextItem] = {}
    for item in items:
        if item.id not in best or item.relevance > best[item.id].relevance:
            best[item.id] = item
    return list(best.values())


def _item(
    record: Record,
    match: float,
    current: str,
    settings: Mapping[str, Any],
    now: datetime,
    asked: bool,
) -> ContextItem:
    is_earlier = record.fields.get("session") != current
    half_life = settings["highlight_half_life_hours"] if is_earlier else settings["half_life_hours"]
    recent = recency(record.created_at, now, half_life)
    item = _as_item(record, min(1.0, _relevance(recent, match, asked)), current)
    # For requests for the latest activity, the order says more.
    return evolve(item, salience=0.5) if asked else item


def _as_item(record: Record, relevance: float, current: str) -> ContextItem:
    event = Event.from_record(record)
    metadata = event.as_dict()
    if event.session != current:
        metadata["earlier"] = True
    return ContextItem(
        source="events",
        # The record of a file has only the path, and a write would look like a read of it.
        content=happened(metadata) if event.path == record.text else record.text,
        relevance=relevance,
        id=event.id,
        kind=event.kind,
        title=headline(metadata),
        created_at=event.created_at,
        # Errors matter more than successes (0.5 is an event's default).
        salience=0.8 if event.kind == "error" or event.exit_code else 0.5,
        location=event.path or None,
        sequence=event.session,
        position=event.position,
        metadata=metadata,
    )
