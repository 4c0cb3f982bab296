"""Keep plugins' commands apart from contextkit's own.

The module also lists contextkit's own commands, each with its place and its summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from contextkit.cli.lazy import LazyCommand

if TYPE_CHECKING:
    from contextkit.plugin.manager import SourceRegistry

_COMMANDS = (
    ("assemble", "assemble:assemble", "Print the context for a QUERY."),
    ("cache", "cache:cache", "Show, fill or clear the cache."),
    ("completion", "completion:completion", "Print a shell's completion script."),
    ("config", "config:config", "Show and change the configuration."),
    ("doctor", "doctor:doctor", "Check that everything works."),
    ("explain", "explain:explain", "Explain what a context contains and what it leaves out."),
    ("export", "transfer:export", "Export all records as JSON lines."),
    ("history", "history:history", "Show or clear usage history."),
    ("hook", "hook:hook", "Answer an event of a coding agent."),
    ("import", "transfer:import_", "Import records from JSON lines, or past sessions."),
    ("index", "index:index", "Update the records from the workspace."),
    ("init", "init:init", "Write a commented contextkit.toml."),
    ("new-source", "new_source:new_source", "Create the package of a new source."),
    ("options", "options:options", "List the options of a request."),
    ("plugins", "plugins:plugins", "List, add, remove and restore plugins."),
    ("premortem", "assemble:premortem", "Print what went wrong before in a DOMAIN."),
    ("project", "project:project", "Show, link and move this folder's project."),
    ("prune", "prune:prune", "Delete records past their retention limit."),
    ("reembed", "transfer:reembed", "Rewrite the store with the current embedding models."),
    ("serve", "serve:serve", "Run the background server for agent hooks."),
    ("sources", "sources:sources", "List the sources and their state."),
    ("stats", "stats:stats", "Show what agents were given and used."),
    ("store", "store:store", "Move all records to another store."),
    ("strategies", "strategies:strategies", "List scoring strategies."),
    ("watch", "watch:watch", "Follow what agents are given."),
)

BUILT_IN: Mapping[str, LazyCommand] = {
    name: LazyCommand(name, f"contextkit.cli.{target}", summary)
    for name, target, summary in _COMMANDS
}


class PluginCommands(click.Group):
    """Commands of plugins; a taken name is not replaced.

    Attributes:
        refused: messages on commands that were not added.
    """

    def __init__(self) -> None:
        super().__init__("plugins")
        self.refused: list[str] = []

    def add_all(self, registry: SourceRegistry) -> None:
        """Add each enabled plugin's commands.

        They come from its hook or its `SourceInfo`.
        """
        hook = "contextkit_commands"
        for plugin in registry.on:
            if registry.implements(plugin, hook):
                registry.attempt(plugin, hook, lambda _: None, cli=self)
                continue
            for name, (target, summary) in registry.info(plugin).commands.items():
                self.add_command(LazyCommand(name, target, summary))

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, unless its name is taken.

        contextkit or another plugin may have a command of that name.
        """
        given = name or cmd.name or ""
        if given in BUILT_IN or given in self.commands:
            owner = "contextkit" if given in BUILT_IN else "another plugin"
            module = (
                cmd.module
                if isinstance(cmd, LazyCommand)
                else getattr(cmd.callback, "__module__", "a plugin")
            )
            self.refused.append(
                f"the command '{given}' of {module} is left out: {owner} already has one"
            )
            return
        super().add_command(cmd, name)
