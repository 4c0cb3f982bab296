"""Serving one client on standard input and output."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

__all__ = ["serve_stdio"]


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until the client closes standard input; call it in the main thread.

    What anything else in the process prints goes to standard error meanwhile: standard output
    carries the protocol.
    """
    with _ended_by_interrupt():
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


@contextlib.contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process: what waits for the client's next line cannot be woken."""
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
