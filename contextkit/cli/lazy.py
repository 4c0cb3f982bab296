"""Commands that are imported only when they run.

The help lists them without an import.
"""

from __future__ import annotations

import importlib
from typing import Any

import click


class LazyCommand(click.Command):
    """A stand-in for a command that is not imported yet.

    ```python
    @hookimpl
    def contextkit_commands(cli):
        cli.add_command(LazyCommand("tide", "contextkit_tide.commands:tide", "Show the tide."))
    ```

    Args:
        name: its name on the command line.
        target: `module:attribute`, a click command.
        summary: its line in the list of commands.
    """

    def __init__(self, name: str, target: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self.target = target

    @property
    def module(self) -> str:
        """The module with the command."""
        return self.target.partition(":")[0]

    def load(self) -> click.Command:
        """Import the command."""
        command: click.Command = getattr(
            importlib.import_module(self.module), self.target.partition(":")[2]
        )
        return command

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Create the context of the imported command, which then runs."""
        return self.load().make_context(info_name, args, parent, **extra)
