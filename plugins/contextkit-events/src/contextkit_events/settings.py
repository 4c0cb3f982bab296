"""The source's own settings, `[sources.events]`, and how many events stay."""

from __future__ import annotations

from contextkit import Setting

KEEP_DAYS = 90.0
"""Older events go, unless `[sources.events] keep_days` says otherwise."""

KEEP_EVENTS = 10_000
"""So many events of a project stay, unless `[sources.events] keep_records` says otherwise."""

_MOST = 1_000_000

SETTINGS = {
    # Whether what an agent's hooks report is logged: the user's choice alone.
    "feed": Setting(True, rule="off"),
    # After so many hours an event of the session that asks counts half as recent.
    "half_life_hours": Setting(24.0, over=0, rule="free"),
    # The same for what earlier sessions did.
    "highlight_half_life_hours": Setting(168.0, over=0, rule="free"),
    # How many of a session's newest events are read, beside its turns.
    "recent": Setting(50, least=1, most=_MOST, rule="free"),
    # How many of its newest turns are read.
    "turns": Setting(20, least=1, most=_MOST, rule="free"),
    # How many earlier sessions give their errors and writes.
    "sessions": Setting(5, least=1, most=_MOST, rule="free"),
    # How many of the newest events that do not match are shown beside those that do, unless the
    # query asks for what was done last.
    "beside": Setting(3, least=0, most=_MOST, rule="free"),
}
