"""Parts of settings that several agents share.

It imports almost nothing, because every hook loads it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from contextkit.models import AgentFile, AgentOffer

NAME = "contextkit"
OWNER = {"name": "The contextkit authors"}
SUMMARY = "The project's memories, code and history, as context for each prompt."

STARTS = "startup|resume|clear|compact"
"""Moments at which a session starts, for agents that distinguish them."""


def groups(events: Mapping[str, str | None], hook: Mapping[str, Any]) -> dict[str, Any]:
    """Return hooks in groups with a matcher, as Claude Code, Codex and Gemini have them.

    Args:
        events: event -> its matcher.
        hook: the handler of each.
    """
    return {
        event: [{**({"matcher": matcher} if matcher else {}), "hooks": [hook]}]
        for event, matcher in events.items()
    }


def shell_command(offer: AgentOffer) -> str:
    """Return the hook's command for a shell."""
    import shlex
    import subprocess

    words = list(offer.hook)
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def named_folder(variable: str) -> Path | None:
    """Return the folder that a variable of the environment names."""
    from pathlib import Path

    named = os.environ.get(variable)
    return Path(named).expanduser() if named else None


def server(offer: AgentOffer, **more: Any) -> dict[str, Any]:
    """Return the MCP server under its name; nothing without contextkit-mcp."""
    if not offer.server:
        return {}
    program, *arguments = offer.server
    return {NAME: {**more, "command": program, "args": arguments}}


def under(key: str, servers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the servers as the entry of a settings file, if there are any."""
    return {key: servers} if servers else {}


def skill(folder: Path, offer: AgentOffer) -> AgentFile:
    """Return the skill's file in a folder of skills."""
    from contextkit.models import AgentFile

    return AgentFile(folder / "skills" / NAME / "SKILL.md", offer.skill)


def json_file(path: Path, value: Mapping[str, Any]) -> AgentFile:
    """Return a JSON file of contextkit's own."""
    import json

    from contextkit.models import AgentFile

    return AgentFile(path, f"{json.dumps(value, indent=2)}\n")


def about(offer: AgentOffer) -> dict[str, Any]:
    """Return what a plugin's manifest says of contextkit."""
    own = {"name": NAME, "version": offer.version, "description": SUMMARY}
    return {**own, "author": OWNER}
