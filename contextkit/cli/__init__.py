"""The command line: `contextkit`."""

from __future__ import annotations

from contextkit.cli.root import cli

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line."""
    cli()
