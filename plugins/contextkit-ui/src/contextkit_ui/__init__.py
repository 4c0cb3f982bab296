"""A page to look at a context: `contextkit report` writes it, `contextkit ui` serves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextkit.plugin.spec import hookimpl

if TYPE_CHECKING:
    import click

__all__: list[str] = []


@hookimpl
def contextkit_commands(cli: click.Group) -> None:
    """Add `report` and `ui`."""
    from contextkit.cli.lazy import LazyCommand

    for name, summary in (
        ("report", "Write a web page that explains a QUERY's context."),
        ("ui", "Explore contexts in the browser."),
    ):
        cli.add_command(LazyCommand(name, f"contextkit_ui.commands:{name}", summary))
