"""The events source of contextkit: what was read, written, run and said, by session.

The module is the plugin: its hooks are those of `contextkit_events.source`. `EventLog` is
the same for Python.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from contextkit_events.source import (
    contextkit_agent_event,
    contextkit_format,
    contextkit_query,
    contextkit_signals,
    contextkit_source,
    contextkit_truncate,
    contextkit_weight,
)

if TYPE_CHECKING:
    from contextkit_events.errors import InvalidEventError
    from contextkit_events.event import Event
    from contextkit_events.log import EventLog

__all__ = [
    "Event",
    "EventLog",
    "InvalidEventError",
    "contextkit_agent_event",
    "contextkit_format",
    "contextkit_query",
    "contextkit_signals",
    "contextkit_source",
    "contextkit_truncate",
    "contextkit_weight",
]

_HOME = {"Event": "event", "EventLog": "log", "InvalidEventError": "errors"}


def __getattr__(name: str) -> Any:
    # A process that only loads the plugin need not pay for what its commands use.
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
