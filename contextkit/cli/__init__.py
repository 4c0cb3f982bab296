"""The command line: `contextkit`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.cli.root import cli

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line."""
    try:
        # Imported here, so that Ctrl-C during the import ends like Ctrl-C later.
        from contextkit.cli.root import cli

        cli()
    except KeyboardInterrupt:
        sys.exit(130)


def __getattr__(name: str) -> Any:
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from contextkit.cli.root import cli

    return cli
