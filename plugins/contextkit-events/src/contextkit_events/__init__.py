"""The `events` source: actions and messages by session.

The module is the plugin. It covers what was read, written, run and said. `EventLog` logs and lists
events from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from contextkit import QuerySignals, SourceInfo, hookimpl
from contextkit.sources import lazy_names

if TYPE_CHECKING:
    from contextkit import ContextItem, ContextKit, ContextRequest
    from contextkit.models import Detail, Style
    from contextkit_events.event import Event, InvalidEventError
    from contextkit_events.log import EventLog

__all__ = ["Event", "EventLog", "InvalidEventError"]

__getattr__ = lazy_names(__name__, event="Event InvalidEventError", log="EventLog")

_KINDS: Mapping[str, tuple[str, ...]] = {
    "fix": ("error", "shell_exec", "file_write"),
    "explain": ("file_read", "turn"),
    "question": ("file_read", "turn"),
    "action": ("file_write", "turn"),
    "other": (),
}
"""Intent -> the kinds of events that matter most for it."""


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the source: high in a context, like a conversation.

    Events are found by time and by keywords.
    """
    from contextkit_events.settings import KEEP_DAYS, KEEP_EVENTS, SETTINGS

    return SourceInfo(
        title="Recent Activity",
        description="files, commands, errors and turns of this session and earlier ones",
        priority=90,
        scale="calibrated",
        answers={"activity": 1, "decisions": 0.3, "history": 0.3, "failures": 0.3},
        cacheable=True,
        # Events are frequent: computing vectors for each would cost more than it finds.
        embedder="none",
        count_filters={"what": ["event", "turn", "past_event", "past_turn"]},
        # Imported events are old from the start: they stay until the user deletes them.
        prune_filters={"what": ["event", "turn", "session"]},
        indexed_fields=("session", "kind", "what", "highlight", "place"),
        kind_field="kind",
        dated=True,
        keep_days=KEEP_DAYS,
        keep_records=KEEP_EVENTS,
        settings=SETTINGS,
        # How events are found is a free choice; whether they are logged is the user's.
        dedup_key="event:{id}",
        commands={
            "events": (
                "contextkit_events.commands:events",
                "Log, list and clear events.",
            )
        },
        tools="contextkit_events.tools:TOOLS",
        imports="contextkit_events.importing:import_session",
    )


@hookimpl
async def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the session's newest events and earlier sessions' highlights.

    The session's newest turns are included.
    """
    from contextkit_events.asked import is_the_question
    from contextkit_events.finding import find_events

    found = await find_events(request)
    return [item for item in found if not is_the_question(item, request.query)]


@hookimpl
def contextkit_format(items: Sequence[ContextItem], style: Style, detail: Detail) -> list[str]:
    """Format each event in the form of its kind."""
    from contextkit_events.formatting import formatted

    return [formatted(item, style, detail) for item in items]


@hookimpl
def contextkit_signals(query: str, signals: QuerySignals) -> QuerySignals:
    """Detect relevant kinds of events, and requests for recent activity."""
    from contextkit_events.asked import asks_for_activity

    topics = ("activity",) if asks_for_activity(query) else ()
    return QuerySignals(kinds=_KINDS[signals.intent], topics=topics)


@hookimpl
def contextkit_truncate(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten an event to its headline and matching lines."""
    from contextkit_events.shortening import shortened

    return shortened(item, style, max_tokens, count, query)


@hookimpl
def contextkit_weight(request: ContextRequest) -> float:
    """Return the source's weight.

    Events are short; they get most of the room where the query asks for the latest activity.
    """
    from contextkit_events.asked import asks_for_activity

    return 5.0 if asks_for_activity(request.query) else 1.0


@hookimpl
def contextkit_agent_event(event: Mapping[str, Any], kit: ContextKit) -> None:
    """Log an agent's actions and messages, unless `feed` is off."""
    from contextkit_events.feed import log_agent_event

    log_agent_event(event, kit)
