"""The plugin: adapters of agents, the commands that use them, and importers of past sessions."""

from __future__ import annotations

from contextkit import hookimpl
from contextkit.models import AgentAdapter, SessionImporter, SourceInfo


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    commands = "contextkit_agents.commands"
    return SourceInfo(
        commands={
            "install": (f"{commands}:install", "Connect the coding agents that are installed."),
            "uninstall": (f"{commands}:uninstall", "Disconnect coding agents."),
        }
    )


@hookimpl
def contextkit_agents() -> list[AgentAdapter]:
    """Offer this package's adapters."""
    import importlib

    from contextkit_agents.adapters import NAMES

    modules = {
        name: importlib.import_module(f"contextkit_agents.adapters.{name.replace('-', '_')}")
        for name in NAMES
    }
    return [
        AgentAdapter(
            name=name,
            title=module.TITLE,
            looked_up=module.LOOKED_UP,
            programs=module.PROGRAMS,
            folders=module.FOLDERS,
            files=module.files,
            read=module.read,
            answer=module.answer,
            afterwards=module.AFTERWARDS,
        )
        for name, module in modules.items()
    ]


@hookimpl
def contextkit_importers() -> list[SessionImporter]:
    """Offer the past sessions of Claude Code and of Codex."""
    from contextkit_agents.codex import find_rollouts
    from contextkit_agents.transcripts import find_transcripts

    return [
        SessionImporter(name="claude-code", summary="Claude Code", find=find_transcripts),
        SessionImporter(name="codex", summary="Codex CLI", find=find_rollouts),
    ]
