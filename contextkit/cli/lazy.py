"""Commands that are imported when they are run, not when the help lists them."""

from __future__ import annotations

import importlib
from typing import Any

import click


class LazyCommand(click.Command):
    """A command that stands for one that has not been imported yet.

    ```python
    @hookimpl
    def contextkit_commands(cli):
        cli.add_command(LazyCommand("tide", "contextkit_tide.commands:tide", "Show the tide."))
    ```

    Args:
        name: what it is called on the command line.
        target: `module:attribute`, a click command.
        summary: its line in the list of commands.
    """

    def __init__(self, name: str, target: str, summary: str) -> None:
        super().__init__(name, short_help=summary)
        self.target = target

    @property
    def module(self) -> str:
        """The module that it is in."""
        return self.target.partition(":")[0]

    def load(self) -> click.Command:
        """Import it."""
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
        """The context of the command itself, which is what runs in it."""
        return self.load().make_context(info_name, args, parent, **extra)
