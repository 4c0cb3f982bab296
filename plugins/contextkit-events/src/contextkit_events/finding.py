"""Finding the events for a request: the newest of its session, highlights of earlier ones."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import evolve

from contextkit import ContextItem, ContextRequest, Record
from contextkit.concurrency import in_thread
from contextkit.sources import supported
from contextkit.text import closeness, named_dates
from contextkit_events.asked import asks_for_activity
from contextkit_events.event import Event
from contextkit_events.formatting import happened, headline

_HIGHLIGHTS = 50
_HOUR = 3600.0
_STEPS = 24
_LIFT = 1.1
_DATE = 0.5
_ASKED = 0.3
"""What an event is worth by that alone that events are asked for."""

_UNASKED_RECENCY = 0.25
"""How much being recent counts where they are not."""


async def find_events(request: ContextRequest) -> list[ContextItem]:
    """Events of the session that asks, or of the latest one, and highlights of those before it.

    An item's relevance is how well it answers the query and, for a quarter, how recent it is,
    so that what says nothing on a question comes after what does. Where the query asks for what
    was done last, half is how recent it is, and all of it counts as an answer. A tenth more has
    what is of the kinds that matter for what the query wants.
    Older events of the session, beyond the newest, are there where they answer it; of those
    that do not, the newest few are, unless they are asked for.
    """
    settings = request.settings
    named = await in_thread(lambda: _sessions(request, settings))
    if named is None:
        return []
    current, earlier = named
    found = await in_thread(lambda: _windows(request, settings, current, earlier))
    hits = await request.records.search(
        request.query,
        limit=max(request.limit, len(found)),
        filters={"what": ["event", "turn"], "session": [current, *earlier], **request.filters},
        related=True,
    )
    matches = {hit.record.id: hit.relevance for hit in hits}
    for hit in hits:
        # A vector resembles every question a little: words in common tell what answers it.
        if hit.keyword_score > 0 and _is_event_of(hit.record, current):
            found.setdefault(hit.record.id, hit.record)
    now, kinds = datetime.now(UTC), request.signals.kinds
    asked = asks_for_activity(request.query)
    if not asked:
        found = _few_beside(found, matches, request.min_relevance, settings["beside"])
    items = [
        _lifted(_item(record, matches.get(record.id, 0.0), current, settings, now, asked), kinds)
        for record in found.values()
    ]
    newest_first = sorted(_with_hints(items, request.query), key=_age_and_id)
    best_first = sorted(newest_first, key=lambda item: -supported(item.relevance, item.hint))
    return best_first[: request.limit]


def _with_hints(items: list[ContextItem], query: str) -> list[ContextItem]:
    """The items, with a hint for those of a date that the query names."""
    dates = named_dates(query)
    if not dates or not items:
        return items
    most = _DATE * max(item.relevance for item in items)
    return [
        evolve(item, hint=most * closeness(dates, item.created_at)) if item.created_at else item
        for item in items
    ]


def recency(created_at: datetime, now: datetime, half_life_hours: float) -> float:
    """How recent something is: 1 now, one half after each half-life.

    It goes down in steps, 24 a half-life, so that one question asked twice has one answer.
    """
    hours = max(0.0, (now - created_at).total_seconds() / _HOUR)
    steps = math.floor(hours / half_life_hours * _STEPS)
    return float(0.5 ** (steps / _STEPS))


def _sessions(request: ContextRequest, settings: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """The session that asks, and those before it, the latest first; None for an empty log."""
    records = request.records.newest(settings["sessions"] + 1, {"what": "session"})
    names = [str(record.fields.get("session")) for record in records]
    if not names:
        return None
    current = request.session or names[0]
    return current, [name for name in names if name != current][: settings["sessions"]]


def _windows(
    request: ContextRequest, settings: Mapping[str, Any], current: str, earlier: list[str]
) -> dict[str, Record]:
    """The newest events, turns and highlights that the request's filters let through."""
    wanted: list[tuple[int, dict[str, Any]]] = [
        (settings["recent"], {"what": "event", "session": current}),
        (settings["turns"], {"what": "turn", "session": current}),
    ]
    if earlier:
        wanted.append((_HIGHLIGHTS, {"highlight": True, "session": earlier}))
    return _by_id(
        record
        for most, filters in wanted
        for record in request.records.newest(most, {**filters, **request.filters})
    )


def _by_id(records: Iterable[Record]) -> dict[str, Record]:
    # A request's own filter on sessions or kinds may let the log's records of sessions through.
    return {r.id: r for r in records if r.fields.get("what") != "session"}


def _few_beside(
    found: Mapping[str, Record], matches: Mapping[str, float], floor: float, most: int
) -> dict[str, Record]:
    """What answers the query, and the newest few of the rest."""
    newest_first = sorted(found.values(), key=lambda it: (-it.created_at.timestamp(), it.id))
    rest = [record.id for record in newest_first if matches.get(record.id, 0.0) < floor]
    left_out = frozenset(rest[most:])
    return {name: record for name, record in found.items() if name not in left_out}


def _age_and_id(item: ContextItem) -> tuple[float, str]:
    return (0.0 if item.created_at is None else -item.created_at.timestamp(), item.id)


def _is_event_of(record: Record, session: str) -> bool:
    return record.fields.get("session") == session and record.fields.get("what") == "event"


def _lifted(item: ContextItem, kinds: Collection[str]) -> ContextItem:
    return evolve(item, relevance=min(1.0, _LIFT * item.relevance)) if item.kind in kinds else item


def _relevance(recent: float, match: float, asked: bool) -> float:
    if asked:
        return 0.5 * recent + _ASKED + (0.5 - _ASKED) * match
    return _UNASKED_RECENCY * recent + (1 - _UNASKED_RECENCY) * match


def _item(
    record: Record,
    match: float,
    current: str,
    settings: Mapping[str, Any],
    now: datetime,
    asked: bool,
) -> ContextItem:
    event = Event.from_record(record)
    is_earlier = event.session != current
    half_life = settings["highlight_half_life_hours"] if is_earlier else settings["half_life_hours"]
    recent = recency(event.created_at, now, half_life)
    metadata = event.as_dict()
    if is_earlier:
        metadata["earlier"] = True
    return ContextItem(
        source="events",
        # Of a file the record has the path alone, and a write would pass for a read of it.
        content=happened(metadata) if event.path == record.text else record.text,
        relevance=min(1.0, _relevance(recent, match, asked)),
        id=event.id,
        kind=event.kind,
        title=headline(metadata),
        created_at=event.created_at,
        # Errors matter more than what went as it should (0.5 is an event's default); of
        # what was done last the order says more.
        salience=0.8 if not asked and (event.kind == "error" or event.exit_code) else 0.5,
        location=event.path or None,
        sequence=event.session,
        metadata=metadata,
    )
