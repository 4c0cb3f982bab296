"""The plugin: it adds `contextkit claude-code`, and importers of past sessions."""

from __future__ import annotations

from contextkit import hookimpl
from contextkit.models import SessionImporter, SourceInfo


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    return SourceInfo(
        commands={
            "claude-code": (
                "contextkit_claude_code.commands:claude_code",
                "Connect Claude Code through hooks and an MCP server.",
            )
        }
    )


@hookimpl
def contextkit_importers() -> list[SessionImporter]:
    """Offer the past sessions of Claude Code and of Codex."""
    from contextkit_claude_code.codex import find_rollouts
    from contextkit_claude_code.transcripts import find_transcripts

    return [
        SessionImporter(name="claude-code", summary="Claude Code", find=find_transcripts),
        SessionImporter(name="codex", summary="Codex CLI", find=find_rollouts),
    ]
