"""Recognize and build contextkit's entries in Claude Code's settings."""

from __future__ import annotations

import importlib.metadata
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

SERVER_NAME = "contextkit"
_TOOLS = "Bash|Read|Write|Edit|MultiEdit|NotebookEdit"
"""Tools whose hooks are installed.

A failing command is answered; plugins that listen receive reads and writes.
"""

HOOK_EVENTS: Mapping[str, str | None] = {
    "SessionStart": None,
    "UserPromptSubmit": None,
    "PostToolUse": _TOOLS,
    "PostToolUseFailure": _TOOLS,
    "Stop": None,
}
"""Event -> its tools, for events about tools."""

_SCRIPT = "contextkit-claude-hook"
_COMMAND = " claude-code hook"
_RUNS_SCRIPT = re.compile(rf"(?:^|[\s/\\\"']){_SCRIPT}(?:\.exe)?[\"']?$")
_HOST_SECONDS = 5
"""Timeout of Claude Code for a hook, never reached."""


@frozen
class Wanted:
    """The required entries of the settings.

    Attributes:
        hooks: event -> the entry in its list.
        server: the MCP server, or None if contextkit-mcp is not installed.
    """

    hooks: Mapping[str, dict[str, Any]]
    server: dict[str, Any] | None


def wanted() -> Wanted:
    """Return the entries of this contextkit installation."""
    hook = {"type": "command", "command": _shell_command(), "timeout": _HOST_SECONDS}
    return Wanted(
        hooks={
            event: {**({"matcher": tools} if tools else {}), "hooks": [hook]}
            for event, tools in HOOK_EVENTS.items()
        },
        server=_server(),
    )


def is_our_hook(hook: object) -> bool:
    """Return whether a hook entry is contextkit's, from any installation."""
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str):
        return False
    bare = command.rstrip()
    if bare.endswith(_COMMAND):
        return "contextkit" in bare.removesuffix(_COMMAND)
    return _RUNS_SCRIPT.search(bare) is not None


def is_our_server(server: object) -> bool:
    """Return whether an MCP server is contextkit's, from any installation."""
    if not isinstance(server, dict) or not isinstance(server.get("command"), str):
        return False
    program = re.split(r"[/\\]", server["command"])[-1].removesuffix(".exe")
    arguments = server.get("args")
    return program == "contextkit" and isinstance(arguments, list) and arguments[:1] == ["mcp"]


def _shell_command() -> str:
    words = [_program(_SCRIPT)]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _server() -> dict[str, Any] | None:
    if not importlib.metadata.entry_points(group="contextkit", name="mcp"):
        return None
    return {"type": "stdio", "command": _program("contextkit"), "args": ["mcp"], "env": {}}


def _program(name: str) -> str:
    """Return the absolute path of this environment's script.

    An agent has another PATH.
    """
    beside = Path(sys.executable).with_name(name)
    if beside.exists():
        return str(beside)
    return shutil.which(name) or name
