"""`contextkit-claude-hook`: the program that Claude Code runs on events."""

from __future__ import annotations

from contextkit.agent import run_hook, to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def answer_for_claude(event: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    """Return an answer in Claude Code's format.

    An empty answer gives an empty text.
    """
    context = answer.get("context")
    if not context:
        return ""
    told = {"hookEventName": event["hook_event_name"], "additionalContext": context}
    return f"{to_json({'hookSpecificOutput': told})}\n"


def main() -> None:
    """Answer the event on standard input, then exit with 0."""
    run_hook(answer_for_claude)
