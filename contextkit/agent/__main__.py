"""Entry point of the background server: `python -m contextkit.agent`."""

from __future__ import annotations

import os
import sys

from contextkit.agent.client import socket_path


def main(arguments: list[str]) -> None:
    """Run the server unless another one runs.

    If the folder that it was started for is gone, it ends without leaving any files.
    """
    warm = arguments[1] if arguments[:1] == ["--warm"] and len(arguments) > 1 else None
    path = socket_path(os.environ)
    if path is None or not (warm is None or os.path.isdir(warm)):  # noqa: PTH112 - quick
        return
    # The module imports what only systems with Unix sockets have.
    from contextkit.agent.lock import only_server

    with only_server(path) as first:
        if first:
            from contextkit.agent.running import run_detached

            run_detached(path, warm)


if __name__ == "__main__":
    main(sys.argv[1:])
