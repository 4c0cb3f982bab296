"""Events as text, for people and agents."""

from __future__ import annotations

from collections.abc import Sequence

from contextkit_events.event import Event
from contextkit_events.formatting import headline


def told_line(event: Event) -> str:
    """Describe the logged event."""
    return f"Logged {event.id} in the session {event.session}: {headline(event.as_dict())}"


def rows_of(events: Sequence[Event]) -> list[str]:
    """Describe each event on a line: time, session and headline."""
    width = min(20, max((len(event.session) for event in events), default=0))
    return [
        f"{event.created_at:%Y-%m-%d %H:%M:%S}  {event.session[:width]:<{width}}  "
        f"{headline(event.as_dict())}"
        for event in events
    ]
