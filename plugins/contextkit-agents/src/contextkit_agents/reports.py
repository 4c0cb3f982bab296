"""Parts of transcripts that both agents have, as their hooks would report them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from contextkit.models import LeftOut

BOOKKEEPING = LeftOut("bookkeeping line")
BY_PROGRAM = LeftOut("text written by the program")
THINKING = LeftOut("thinking")
UNKNOWN = LeftOut("line of an unknown form")

Report = Mapping[str, Any]


def prompt(said: str) -> Report:
    """Return the report of a user's prompt."""
    return {"hook_event_name": "UserPromptSubmit", "prompt": said}


def answer(said: str) -> Report:
    """Return the report of an agent's answer."""
    return {"hook_event_name": "Stop", "last_assistant_message": said}


def used(tool: object, given: Report, response: object) -> Report:
    """Return the report of a tool call that succeeded."""
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_response": response,
    }


def failed(tool: object, given: Report, error: str, *, interrupted: bool) -> Report:
    """Return the report of a tool call that failed or was refused."""
    return {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": tool,
        "tool_input": given,
        "error": error,
        "is_interrupt": interrupted,
    }


def moment(stamp: object) -> datetime | None:
    """Parse a time; None if it is none, or has no time zone."""
    try:
        parsed = datetime.fromisoformat(stamp) if isinstance(stamp, str) else None
    except ValueError:
        return None
    return parsed if parsed is not None and parsed.utcoffset() is not None else None


def text_of(content: object) -> str:
    """Join the texts of a message's content: a text, or blocks with a `text`."""
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    texts = (block.get("text") for block in blocks if isinstance(block, dict))
    return "\n\n".join(text for text in texts if isinstance(text, str)).strip()
