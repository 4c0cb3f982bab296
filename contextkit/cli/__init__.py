"""The command line: `contextkit`."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextkit.cli.root import cli

__all__ = ["cli", "main"]


_OBJECTS_BETWEEN_COLLECTIONS = 200_000
"""Starting makes some ten thousand objects that all stay: looking for garbage finds none."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # A thread of numpy's would spin beside the work, and nothing here is large enough for it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # Imported here, so that Ctrl-C during the import ends like Ctrl-C later.
        from contextkit.cli.root import cli

        cli()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # The memory goes with the process: it is not searched for garbage once more before.
        gc.freeze()


def __getattr__(name: str) -> Any:
    if name != "cli":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from contextkit.cli.root import cli

    return cli
