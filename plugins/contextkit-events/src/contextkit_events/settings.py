"""The source's own settings, `[sources.events]`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

from attrs import fields, frozen

__all__ = ["KEEP_DAYS", "KEEP_EVENTS", "EventSettings", "problems_in"]

KEEP_DAYS = 90.0
"""Older events go, unless `[sources.events] keep_days` says otherwise."""

KEEP_EVENTS = 10_000
"""So many events of a project stay, unless `[sources.events] keep_records` says otherwise."""

_HALF_LIVES = ("half_life_hours", "highlight_half_life_hours")
_EXPECTED = {
    "feed": "true or false",
    "beside": "a whole number of at least 0",
    **dict.fromkeys(_HALF_LIVES, "hours, over 0"),
}
_WHOLE = "a whole number of at least 1"


@frozen(kw_only=True)
class EventSettings:
    """How events are logged and found.

    Attributes:
        feed: whether what an agent's hooks report is logged.
        half_life_hours: after this many hours an event of the session that asks counts half
            as recent.
        highlight_half_life_hours: the same for what earlier sessions did.
        recent: how many of a session's newest events are looked at, beside its turns.
        turns: how many of its newest turns are.
        sessions: how many earlier sessions give their errors and writes.
        beside: how many of the newest that say nothing on a question are shown beside those
            that do, unless what was done last is asked for.
    """

    feed: bool = True
    half_life_hours: float = 24.0
    highlight_half_life_hours: float = 168.0
    recent: int = 50
    turns: int = 20
    sessions: int = 5
    beside: int = 3

    @classmethod
    def of(cls, own: Mapping[str, Any]) -> Self:
        """From the settings of a request or of the configuration, which were checked."""
        known = {it.name for it in fields(cls)}
        return cls(**{name: value for name, value in own.items() if name in known})


def problems_in(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with settings, each text beginning with its key."""
    known = {it.name for it in fields(EventSettings)}
    wrong = [f"{key}: the source events has no such setting" for key in settings.keys() - known]
    for key in sorted(settings.keys() & known):
        expected = _EXPECTED.get(key, _WHOLE)
        if not _is_right(key, settings[key]):
            wrong.append(f"{key}: must be {expected}, got {settings[key]!r}")
    return sorted(wrong)


def _is_right(key: str, value: Any) -> bool:
    if key == "feed":
        return isinstance(value, bool)
    if key in _HALF_LIVES:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and math.isfinite(value) and value > 0
    return type(value) is int and (0 if key == "beside" else 1) <= value <= 2**31
