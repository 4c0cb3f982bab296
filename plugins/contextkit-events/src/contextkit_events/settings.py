"""Settings of the source, `[sources.events]`, and retention limits."""

from __future__ import annotations

from contextkit import Setting

KEEP_DAYS = 90.0
"""Days that events are kept, unless `[sources.events] keep_days` is set."""

KEEP_EVENTS = 10_000
"""Events kept per project, unless `[sources.events] keep_records` is set."""

_MOST = 1_000_000

SETTINGS = {
    # Whether to log the reports of an agent's hooks: only the user may choose this.
    "feed": Setting(True, rule="off"),
    # Hours after which an event of the current session counts half as recent.
    "half_life_hours": Setting(24.0, over=0, rule="free"),
    # The same for events of earlier sessions.
    "highlight_half_life_hours": Setting(168.0, over=0, rule="free"),
    # How many of a session's newest events are read, besides its turns.
    "recent": Setting(50, least=1, most=_MOST, rule="free"),
    # How many of its newest turns are read.
    "turns": Setting(20, least=1, most=_MOST, rule="free"),
    # How many earlier sessions contribute their errors and writes.
    "sessions": Setting(5, least=1, most=_MOST, rule="free"),
    # How many of the newest non-matching events are shown besides the matching ones, unless the
    # query asks for the latest activity.
    "beside": Setting(3, least=0, most=_MOST, rule="free"),
}
