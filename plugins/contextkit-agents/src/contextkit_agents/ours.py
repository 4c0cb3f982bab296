"""What this installation offers to agents, and how its entries are recognized."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from contextkit.models import AgentAdapter, AgentOffer
from contextkit_agents.adapters import NAMES

_HOST_SECONDS = 5
_SCRIPT = "contextkit-hook"
_RUNS_HOOK = re.compile(
    rf"(?:^|[\s/\\\"'])(?:{_SCRIPT}(?:\.exe)?[\"']?(?: [\"']?[\w-]{{1,40}}[\"']?)?"
    r"|contextkit(?:\.exe)?[\"']? hook --agent [\"']?[\w-]{1,40}[\"']?)$"
)


def offer_for(adapter: AgentAdapter, *, shared: bool) -> AgentOffer:
    """Return what this installation gives an agent.

    Args:
        adapter: the agent's.
        shared: True to name programs without their folder, for a plugin that others use.
    """

    def program(name: str) -> str:
        beside = Path(sys.executable).with_name(name)
        # An agent has another PATH than this process.
        return name if shared else str(beside) if beside.exists() else shutil.which(name) or name

    own = adapter.name in NAMES
    hook = [program(_SCRIPT)] if own else [program("contextkit"), "hook", "--agent"]
    has_server = importlib.metadata.entry_points(group="contextkit", name="mcp")
    skill = importlib.resources.files("contextkit_agents") / "SKILL.md"
    return AgentOffer(
        hook=[*hook, adapter.name],
        server=[program("contextkit"), "mcp"] if has_server else [],
        skill=skill.read_text(encoding="utf-8"),
        seconds=_HOST_SECONDS,
        version=importlib.metadata.version("contextkit-agents"),
    )


def is_ours(value: object) -> bool:
    """Return whether a hook or an MCP server is contextkit's, from any installation."""
    if not isinstance(value, Mapping):
        return False
    command, arguments = value.get("command"), value.get("args", [])
    words = command if isinstance(command, list) else [command]
    words = [*words, *(arguments if isinstance(arguments, list) else [])]
    if not (words and all(isinstance(word, str) for word in words)):
        return False
    program = re.split(r"[/\\]", str(words[0]))[-1].removesuffix(".exe")
    return (program == "contextkit" and words[1:2] == ["mcp"]) or (
        _RUNS_HOOK.search(" ".join(map(str, words)).rstrip()) is not None
    )
