"""The events that an agent's hooks report."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Self

from attrs import frozen

from contextkit.errors import InvalidRequestError

START = "SessionStart"
PROMPT = "UserPromptSubmit"
COMPACT = "PreCompact"
SHOWN = frozenset({START, PROMPT, "PostToolUse", "PostToolUseFailure"})
"""The events whose answers the agent reads."""

_LEAST_BYTES = 10
_WORD = re.compile(r"\w+")
_FORGETTING = {"clear", "compact"}


@frozen(kw_only=True)
class HookEvent:
    """One event of an agent's session.

    Attributes:
        name: `SessionStart`, `UserPromptSubmit`, `PostToolUse` or `PostToolUseFailure`; other
            events are not answered. At `PreCompact` the agent forgets what it was shown.
        session: the session's id, or "".
        folder: the agent's working folder.
        prompt: the user's prompt.
        failed: the kind of command that failed, `test` or `build`, or None.
        forgot: whether the agent has just lost its earlier context.
        later: whether the agent reads no answer of this event, so that the next event gets it.
        agent: the agent's name, or "".
    """

    name: str
    session: str
    folder: str
    prompt: str = ""
    failed: str | None = None
    forgot: bool = False
    later: bool = False
    agent: str = ""

    @property
    def asks(self) -> bool:
        """Whether the event may need an answer."""
        if self.name == PROMPT:
            said = "".join(_WORD.findall(self.prompt))
            # "Go on" needs no context, and the agent handles /commands itself.
            return len(said.encode("utf-8", "replace")) >= _LEAST_BYTES and self.prompt[:1] != "/"
        # Without a session a repeated failure cannot be recognised.
        return self.name == START or bool(self.failed and self.session)

    @classmethod
    def from_json(cls, event: object) -> Self:
        """Read an event in the format of Claude Code.

        Raises `InvalidRequestError` if it is invalid.
        """
        if not isinstance(event, Mapping) or not isinstance(event.get("hook_event_name"), str):
            raise InvalidRequestError("event: expected a JSON object with a hook_event_name")
        return cls(
            name=event["hook_event_name"],
            session=_text(event, "session_id"),
            folder=_text(event, "cwd") or os.getcwd(),  # noqa: PTH109 - a string is needed
            prompt=_text(event, "prompt"),
            failed=_failed(event),
            forgot=_text(event, "source") in _FORGETTING,
            later=event.get("answer_later") is True,
            agent=_text(event, "agent"),
        )


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequestError(f"event: {name}: expected a string, got {value!r}")
    return value or ""


def _failed(event: Mapping[str, Any]) -> str | None:
    if event["hook_event_name"] in {START, PROMPT}:
        return None
    # Compiling its patterns takes milliseconds.
    from contextkit.agent.failures import failed_kind

    return failed_kind(event)
