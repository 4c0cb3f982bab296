"""Coding agents: what contextkit offers them, and what connects one of them to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

Scope = Literal["project", "user", "folder"]
"""Where an adapter writes: one project, one user, or a folder to share as a plugin."""


@frozen(kw_only=True)
class AgentOffer:
    """What contextkit gives every agent.

    Attributes:
        hook: the words of the command that answers this agent's events.
        server: the words of the command that runs the MCP server; empty without contextkit-mcp.
        skill: the text of a `SKILL.md`.
        seconds: the time after which an agent may end a hook, which is never reached.
        version: contextkit's version.
    """

    hook: Sequence[str]
    server: Sequence[str]
    skill: str
    seconds: int
    version: str


@frozen
class AgentFile:
    """A file that connects an agent.

    Attributes:
        path: the file.
        content: the text of a file of contextkit's own; or the entries to add to a JSON or TOML
            file, which keeps everything else that it contains.
    """

    path: Path
    content: str | Mapping[str, Any]


@frozen(kw_only=True)
class AgentAdapter:
    """Connects one coding agent (`contextkit_agents`).

    Attributes:
        name: its name on the command line, such as `codex`.
        title: its name for people, such as `Codex CLI`.
        looked_up: the version or the date of the documentation that the adapter follows.
        programs: programs on PATH that show that the agent is installed.
        folders: folders in the user's home that show the same.
        files: the files of a scope, given the folder that it is about: the project's root, the
            user's home, or the folder to share. Empty where the agent has no such scope.
        read: translates an event of the agent to the fields of Claude Code; see
            `contextkit.agent.translate_event`.
        answer: formats a context, which may be empty, for an event of the translated name; None
            prints nothing.
        afterwards: what the user does after the installation, in one sentence.
    """

    name: str
    title: str
    looked_up: str
    programs: Sequence[str] = ()
    folders: Sequence[str] = ()
    files: Callable[[AgentOffer, Scope, Path], Sequence[AgentFile]]
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    answer: Callable[[str, str], Mapping[str, Any] | None]
    afterwards: str = ""
