"""Answering an event in the hook's own process, where no resident process does."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from contextkit.agent_hooks.answering import answer_event
from contextkit.agent_hooks.events import HookEvent
from contextkit.agent_hooks.hiding import hide_shown
from contextkit.errors import ContextKitError
from contextkit.kit import ContextKit

__all__ = ["answer_here"]


def answer_here(
    event: Mapping[str, Any], started: float, heard: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """The answer to an event; the process is to end soon after.

    Nothing is closed: nothing was written, and closing takes longer than searching.

    Args:
        event: as the agent wrote it.
        started: when, by `time.monotonic`, the agent began to wait.
        heard: told how long the answer may take, and whether a resident process is wanted.

    Raises what `answer_event` and `ContextKit.open` raise.
    """
    asked = HookEvent.from_json(event)
    if not asked.asks:
        return {}
    # Keywords are enough for the one answer before a resident process is ready, and loading a
    # model would take a sixth of its time.
    kit = ContextKit.open(Path(asked.folder), environment=os.environ, models=False)
    hooks = kit.config.hooks
    heard({"limit": hooks.timeout, "resident": hooks.resident and hooks.enabled})
    if not hooks.enabled:
        return {}
    hide_shown(kit)
    with contextlib.suppress(ContextKitError):
        # Here and not beside the event loop: two threads that both hold the interpreter's lock
        # cost each other more than they gain. What is wrong is said where it is used.
        kit.store.prepare()
    return answer_event(kit, asked, started + hooks.timeout)
