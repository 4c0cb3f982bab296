"""The commands that plugins add, kept apart from contextkit's own.

The commands that contextkit itself has: where each is, and its line in the help.
"""

from __future__ import annotations

from collections.abc import Mapping

import click

from contextkit.cli.lazy import LazyCommand

_COMMANDS = (
    ("assemble", "assemble:assemble", "Print the context for a QUERY."),
    ("cache", "cache:cache", "Look at the cache, fill it, clear it."),
    ("completion", "completion:completion", "Print a shell's completion script."),
    ("config", "config:config", "Look at the configuration."),
    ("doctor", "doctor:doctor", "Check that everything works."),
    ("explain", "explain:explain", "Show what got in, what not, why."),
    ("export", "transfer:export", "Write every record as JSON lines."),
    ("history", "history:history", "Show or clear usage history."),
    ("hook", "hook:hook", "Answer an event of a coding agent."),
    ("import", "transfer:import_", "Store records from JSON lines."),
    ("index", "index:index", "Bring the records up to date."),
    ("init", "init:init", "Write a contextkit.toml to edit."),
    ("new-source", "new_source:new_source", "Begin a source of your own."),
    ("premortem", "assemble:premortem", "Print what went wrong before."),
    ("project", "project:project", "Show or link this folder's project."),
    ("prune", "prune:prune", "Delete expired records."),
    ("reembed", "transfer:reembed", "Rebuild the records' vectors."),
    ("serve", "serve:serve", "Run the server for agent hooks."),
    ("sources", "sources:sources", "List the sources and their state."),
    ("strategies", "strategies:strategies", "List what may make a score."),
)

BUILT_IN: Mapping[str, LazyCommand] = {
    name: LazyCommand(name, f"contextkit.cli.{target}", summary)
    for name, target, summary in _COMMANDS
}


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
