"""The plugin: it adds `contextkit claude-code`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    import click

__all__ = ["contextkit_commands"]


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `claude-code`."""
    from contextkit.cli.lazy import LazyCommand

    target = "contextkit_claude_code.commands:claude_code"
    cli.add_command(
        LazyCommand("claude-code", target, "Connect Claude Code through hooks and an MCP server.")
    )
