"""contextkit for agents that speak MCP: `contextkit mcp`.

The plugin is no source. It adds the command, and imports the SDK when that runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    import click

__all__ = ["contextkit_commands"]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `contextkit mcp`."""
    from contextkit.cli.lazy import LazyCommand

    summary = "Run an MCP server for an agent."
    cli.add_command(LazyCommand("mcp", "contextkit_mcp.commands:mcp", summary))
