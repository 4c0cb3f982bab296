"""The commands that contextkit itself has: where each is, and its line in the help.

Neither the help nor another command has to import them.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import click
from attrs import frozen

__all__ = ["BUILT_IN", "BuiltIn"]


@frozen
class BuiltIn:
    """One command that has not been imported yet.

    Attributes:
        target: `module:attribute`.
        summary: its line in the list of commands.
    """

    target: str
    summary: str

    def load(self) -> click.Command:
        """Import it."""
        module, _, attribute = self.target.partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command


BUILT_IN: Mapping[str, BuiltIn] = {
    "assemble": BuiltIn("contextkit.cli.assemble:assemble", "Print the context for a QUERY."),
    "config": BuiltIn("contextkit.cli.config:config", "Look at the configuration."),
    "explain": BuiltIn("contextkit.cli.explain:explain", "Show what got in, what not, why."),
    "export": BuiltIn("contextkit.cli.transfer:export", "Write every record as JSON lines."),
    "import": BuiltIn("contextkit.cli.transfer:import_", "Store records from JSON lines."),
    "index": BuiltIn("contextkit.cli.index:index", "Bring the records up to date."),
    "premortem": BuiltIn("contextkit.cli.assemble:premortem", "Print what went wrong before."),
    "reembed": BuiltIn("contextkit.cli.transfer:reembed", "Make every record's vectors anew."),
    "sources": BuiltIn("contextkit.cli.sources:sources", "List the sources and their state."),
}
