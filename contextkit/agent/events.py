"""What an agent's hook reports."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Self

from attrs import frozen

from contextkit.errors import InvalidRequestError

START = "SessionStart"
PROMPT = "UserPromptSubmit"
_LEAST_BYTES = 10
_WORD = re.compile(r"\w+")
_FORGETTING = {"clear", "compact"}


@frozen(kw_only=True)
class HookEvent:
    """One event of an agent's session.

    Attributes:
        name: `SessionStart`, `UserPromptSubmit`, `PostToolUse`, `PostToolUseFailure`, or
            another one, which is answered with nothing.
        session: the session's id, or empty where the agent names none.
        folder: the folder that the agent works in.
        prompt: what the person said.
        failed: the kind of command that failed, `test` or `build`, or None.
        forgot: whether the agent has just lost what it was told before.
    """

    name: str
    session: str
    folder: str
    prompt: str = ""
    failed: str | None = None
    forgot: bool = False

    @property
    def asks(self) -> bool:
        """Whether there may be something to say."""
        if self.name == PROMPT:
            said = "".join(_WORD.findall(self.prompt))
            # "Go on" asks for nothing, and a command is the agent's own affair.
            return len(said.encode("utf-8", "replace")) >= _LEAST_BYTES and self.prompt[:1] != "/"
        # Without a session, it is unknown whether a failure is the first of its kind.
        return self.name == START or bool(self.failed and self.session)

    @classmethod
    def from_json(cls, event: object) -> Self:
        """An event as agents write it, in the fields that Claude Code has.

        Raises `InvalidRequestError` for what is no event.
        """
        if not isinstance(event, Mapping) or not isinstance(event.get("hook_event_name"), str):
            raise InvalidRequestError("an event is a JSON object with a hook_event_name")
        return cls(
            name=event["hook_event_name"],
            session=_text(event, "session_id"),
            folder=_text(event, "cwd") or os.getcwd(),  # noqa: PTH109 - a text is wanted
            prompt=_text(event, "prompt"),
            failed=_failed(event),
            forgot=_text(event, "source") in _FORGETTING,
        )


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidRequestError(f"an event's {name} is a text, not {value!r}")
    return value or ""


def _failed(event: Mapping[str, Any]) -> str | None:
    if event["hook_event_name"] in {START, PROMPT}:
        return None
    # Its patterns take milliseconds to compile.
    from contextkit.agent.failures import failed_kind

    return failed_kind(event)
