"""The commands that plugins add, kept apart from contextkit's own."""

from __future__ import annotations

import click

from contextkit.cli.built_in import BUILT_IN
from contextkit.cli.lazy import LazyCommand

__all__ = ["PluginCommands"]


class PluginCommands(click.Group):
    """Where the plugins of one run put their commands; a name that is taken stays taken.

    Attributes:
        refused: what was not added, in words.
    """

    def __init__(self) -> None:
        super().__init__("plugins")
        self.refused: list[str] = []

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, unless contextkit or another plugin has one of that name."""
        given = name or cmd.name or ""
        if given in BUILT_IN or given in self.commands:
            owner = "contextkit" if given in BUILT_IN else "another plugin"
            module = (
                cmd.module
                if isinstance(cmd, LazyCommand)
                else getattr(cmd.callback, "__module__", "a plugin")
            )
            self.refused.append(f"the command '{given}' of {module} is left out: {owner} has one")
            return
        super().add_command(cmd, name)
