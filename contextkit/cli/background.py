"""Entry point of the background server: `python -m contextkit.cli.background`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from contextkit.agent.client import socket_path
from contextkit.agent.deferred import defer_imports
from contextkit.agent.generated import use_cached_code
from contextkit.agent.lock import only_server
from contextkit.agent.module_cache import cache_modules

if TYPE_CHECKING:
    from contextkit.kit import ContextKit


def main(arguments: list[str]) -> None:
    """Run the server unless another one runs.

    If the folder that it was started for is gone, it ends without leaving any files.
    """
    warm = arguments[1] if arguments[:1] == ["--warm"] and len(arguments) > 1 else None
    path = socket_path(os.environ)
    if path is None or not (warm is None or os.path.isdir(warm)):  # noqa: PTH112 - quick
        return
    with only_server(path) as first:
        if first:
            defer_imports()
            cache_code = use_cached_code()
            from contextkit.agent.running import run_detached

            def write_caches() -> None:
                cache_code()
                # It uses none itself: the cache would count as its memory.
                cache_modules()

            run_detached(path, warm, run_command, write_caches)


def run_command(kit: ContextKit, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Run a command for another process (see `contextkit.cli.served`)."""
    # Hooks alone need nothing of the command line.
    from contextkit.cli.served import run_command as run

    return run(kit, request)


if __name__ == "__main__":
    main(sys.argv[1:])
