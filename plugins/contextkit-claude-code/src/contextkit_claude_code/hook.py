"""`contextkit-claude-hook`: what Claude Code runs at its events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from contextkit.agent import run_hook


def answer_for_claude(event: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """An answer in the form that Claude Code documents; nothing at all for nothing."""
    context = answer.get("context")
    if not context:
        return ""
    told = {"hookEventName": event["hook_event_name"], "additionalContext": context}
    return f"{json.dumps({'hookSpecificOutput': told})}\n"


def main() -> None:
    """Answer the event on standard input, and end the process with exit code 0."""
    run_hook(answer_for_claude)
