"""The plugin: it adds `contextkit claude-code`."""

from __future__ import annotations

from contextkit import hookimpl
from contextkit.models import SourceInfo


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
