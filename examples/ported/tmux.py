"""What a terminal shows, from tmux: after llm-fragments-tmux."""

from __future__ import annotations

import re
import subprocess

from contextkit import ContextItem, ContextRequest, Setting, SourceInfo, hookimpl


@hookimpl
def contextkit_source() -> SourceInfo:
    """Describe the source: the last lines of a pane."""
    return SourceInfo(settings={"lines": Setting(200, least=1, most=10_000)})


@hookimpl
def contextkit_query(request: ContextRequest) -> list[ContextItem]:
    """Return the pane in `tmux:PANE`, or the current one for `tmux:`."""
    items = []
    for pane in re.findall(r"\btmux:([\w%:.-]*)", request.query):
        target = ["-t", pane] if pane else []
        command = ["tmux", "capture-pane", "-p", "-S", f"-{request.settings['lines']}", *target]
        shown = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=request.answer_seconds
        ).stdout.rstrip()
        items.append(ContextItem("tmux", shown, 1.0, id=pane or "current", title=f"tmux {pane}"))
    return [item for item in items if item.content]
