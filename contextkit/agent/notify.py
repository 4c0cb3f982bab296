"""Pass an agent's event on to plugins, after the event was answered.

`python -m contextkit.agent.notify` passes on the one event on its standard input. A hook starts
it and does not wait for it, where no background server runs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.kit import ContextKit

HOOK = "contextkit_agent_event"

MAX_BYTES = 60_000
"""What a pipe takes at once, on every system, less a little."""

_LONGEST = (4000, 400, 40)
"""Characters that a text keeps; less where the whole would be too long."""

_MOST_PARTS = 40
_LEVELS = 6


def tell_plugins(kit: ContextKit, event: Mapping[str, Any]) -> None:
    """Tell every plugin that listens; what one raises is noted, and costs the others nothing.

    Args:
        kit: the workspace's that the event is about.
        event: as the agent wrote it.
    """
    from contextkit.agent.sessions import is_off, note

    listeners = kit.registry.on_with(HOOK) if kit.config.hooks.enabled else []
    if not listeners or is_off(str(event.get("session_id") or "")):
        return
    told = shortened(event, _LONGEST[0])

    def failed(plugin: str, hook: str, reason: str) -> None:
        note("listener_failed", plugin=plugin, hook=hook, reason=reason)

    for name in listeners:
        kit.registry.attempt(name, HOOK, lambda _: None, failed, event=told, kit=kit)


def as_message(event: Mapping[str, Any]) -> bytes | None:
    """An event as JSON of at most `MAX_BYTES`, its texts cut as need be; None if it cannot be."""
    for longest in _LONGEST:
        data = json.dumps(shortened(event, longest)).encode("ascii")
        if len(data) <= MAX_BYTES:
            return data
    return None


def shortened(value: Any, longest: int, levels: int = _LEVELS) -> Any:
    """JSON with its texts cut to their beginning and their end, and without what is too deep.

    Args:
        value: a JSON value.
        longest: characters that a text keeps.
        levels: how deep it may be nested.
    """
    if isinstance(value, str):
        if len(value) <= longest:
            return value
        return f"{value[: longest // 2]}…{value[-(longest // 2 - 1) :]}"
    if isinstance(value, Mapping):
        parts = list(value.items())[:_MOST_PARTS] if levels else ()
        return {k[:longest]: shortened(inner, longest, levels - 1) for k, inner in parts}
    if isinstance(value, list):
        return [shortened(it, longest, levels - 1) for it in value[:_MOST_PARTS]] if levels else []
    return value


def main() -> None:
    """Tell of the event on standard input."""
    from pathlib import Path

    from contextkit.agent.events import HookEvent
    from contextkit.agent.sessions import note
    from contextkit.errors import in_words
    from contextkit.kit import ContextKit

    try:
        event = json.loads(sys.stdin.buffer.read())
        folder = Path(HookEvent.from_json(event).folder)
        # Nobody waits: the folder may have gone since, and its home with it.
        if folder.is_dir():
            with ContextKit.open(folder, environment=os.environ) as kit:
                tell_plugins(kit, event)
    except Exception as error:  # noqa: BLE001 - nobody is there to be told
        note("telling_failed", reason=in_words(error))


if __name__ == "__main__":
    main()
