"""contextkit for agents that speak MCP: `contextkit mcp`.

The plugin is not a source. It adds the command, and imports the SDK when that runs.
"""

from __future__ import annotations

from contextkit import hookimpl
from contextkit.models import SourceInfo

__all__ = ["contextkit_source"]


@hookimpl
def contextkit_source() -> SourceInfo:
    """Declare the plugin's commands."""
    return SourceInfo(
        commands={
            "mcp": (
                "contextkit_mcp.commands:mcp",
                "Run an MCP server for an agent.",
            )
        }
    )
