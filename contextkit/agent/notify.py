"""Pass an agent's events on to plugins, after answering.

`python -m contextkit.agent.notify` passes on the event on its standard input. A hook's process
starts it and does not wait for it, if no background server runs. With `--late` it first makes the
answer that the event did not get in time, for the session's next event.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.agent.events import HookEvent
    from contextkit.kit import ContextKit

HOOK = "contextkit_agent_event"

MAX_BYTES = 60_000
"""Slightly less than the buffer of a pipe on any system."""

_LONGEST = (4000, 400, 40)
"""Limits of a text's length, tried in turn until the event is short enough."""

_MOST_SECONDS = 120
_MOST_PARTS = 40
_LEVELS = 6


def tell_plugins(kit: ContextKit, event: Mapping[str, Any]) -> None:
    """Pass an event on to all listening plugins.

    Their errors are logged.

    Args:
        kit: the event's workspace.
        event: the event as the agent wrote it.
    """
    from contextkit.agent.given import note_touched
    from contextkit.agent.sessions import note, read_session

    session = str(event.get("session_id") or "")
    if not kit.config.hooks.enabled or read_session(session).off:
        return
    note_touched(kit, event)
    listeners = kit.registry.on_with(HOOK)
    if not listeners:
        return
    told = shortened(event, _LONGEST[0])

    def failed(plugin: str, hook: str, reason: str) -> None:
        note("listener_failed", plugin=plugin, hook=hook, reason=reason)

    for name in listeners:
        kit.registry.attempt(name, HOOK, lambda _: None, failed, event=told, kit=kit)


def as_message(event: Mapping[str, Any]) -> bytes | None:
    """Encode an event as JSON of limited size, or None.

    Texts are shortened as far as necessary.
    """
    for longest in _LONGEST:
        event = shortened(event, longest)
        data = json.dumps(event).encode("ascii")
        if len(data) <= MAX_BYTES:
            return data
    return None


def shortened(value: Any, longest: int, levels: int = _LEVELS) -> Any:
    """Shorten the texts of a JSON value.

    A shortened text keeps its beginning and its end, without secrets: half of one is not found.

    Args:
        value: a JSON value.
        longest: maximum length of a text.
        levels: maximum nesting.
    """
    if isinstance(value, str):
        if len(value) > longest:
            from contextkit.text.secrets import redacted

            value = redacted(value)
        if len(value) <= longest:
            return value
        return f"{value[: longest // 2]}…{value[-(longest // 2 - 1) :]}"
    if isinstance(value, Mapping):
        parts = list(value.items())[:_MOST_PARTS] if levels else ()
        return {k[:longest]: shortened(inner, longest, levels - 1) for k, inner in parts}
    if isinstance(value, list):
        return [shortened(it, longest, levels - 1) for it in value[:_MOST_PARTS]] if levels else []
    return value


def _answer_late(kit: ContextKit, event: HookEvent) -> None:
    from contextkit.agent.answer import answer_later
    from contextkit.agent.shown import hide_shown

    hide_shown(kit)
    answer_later(kit, event)


def main() -> None:
    """Pass on the event on standard input."""
    if hasattr(signal, "alarm"):
        # A plugin that hangs must not keep this process forever.
        signal.alarm(_MOST_SECONDS)
    from pathlib import Path

    from contextkit.agent.events import HookEvent
    from contextkit.agent.indexing import index_at_start
    from contextkit.agent.sessions import note
    from contextkit.errors import in_words
    from contextkit.kit import ContextKit

    try:
        event = json.loads(sys.stdin.buffer.read())
        asked = HookEvent.from_json(event)
        folder = Path(asked.folder)
        # The hook does not wait for this process, so the folder may have been deleted.
        if folder.is_dir():
            with ContextKit.open(folder, environment=os.environ) as kit:
                if "--late" in sys.argv:
                    _answer_late(kit, asked)
                tell_plugins(kit, event)
                index_at_start(kit, asked, os.environ)
    except Exception as error:  # noqa: BLE001 - can only be logged
        note("telling_failed", reason=in_words(error))


if __name__ == "__main__":
    main()
