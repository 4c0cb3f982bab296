"""Connections to servers that stay open while the process runs."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from attrs import define, field
from mcp import Client
from mcp.client.stdio import stdio_client

from contextkit_mcp_source.servers import Server

T = TypeVar("T")

_END_SECONDS = 5.0


@define(eq=False)
class _Connection:
    """One server's connection, opened and closed by a task of its own.

    The client's cancel scopes belong to the task that opened it.
    """

    server: Server
    ready: asyncio.Future[Client]
    _end: asyncio.Event = field(factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start to connect."""
        self._task = asyncio.ensure_future(self._serve())

    async def close(self) -> None:
        """End the connection, and the server's program."""
        self._end.set()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_END_SECONDS)

    async def _serve(self) -> None:
        target = self.server.connection
        try:
            # The messages that a server writes for its own log are dropped.
            with Path(os.devnull).open("w", encoding="utf-8") as log:  # noqa: ASYNC230 - a device
                transport = target if isinstance(target, str) else stdio_client(target, log)
                await self._connected(Client(transport))
        except Exception as error:  # noqa: BLE001 - a server may fail in any way
            if not self.ready.done():
                self.ready.set_exception(error)

    async def _connected(self, opening: Client) -> None:
        async with opening as client:
            self.ready.set_result(client)
            await self._end.wait()


class Connections:
    """All connections of a process, in an event loop of their own thread.

    The loops of hosts come and go, with each call of `assemble_context_sync` for example.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread()
        self._process = 0
        self._open: dict[Server, _Connection] = {}
        self._closing: set[asyncio.Future[None]] = set()

    def start(
        self, server: Server, call: Callable[[Client], Awaitable[T]], seconds: float
    ) -> concurrent.futures.Future[T]:
        """Begin a call to a server.

        Its result is a `TimeoutError` after so many seconds, or what the call raises. The next
        call connects again.
        """
        return asyncio.run_coroutine_threadsafe(
            self._called(server, call, seconds), self._running_loop()
        )

    async def _called(
        self, server: Server, call: Callable[[Client], Awaitable[T]], seconds: float
    ) -> T:
        connection = self._connection(server)
        try:
            async with asyncio.timeout(seconds):
                return await call(await asyncio.shield(connection.ready))
        except TimeoutError:
            # A slow start goes on, for the next call.
            if connection.ready.done():
                self._drop(connection)
            raise TimeoutError(f"no answer within {seconds:.3g} s") from None
        except Exception:
            self._drop(connection)
            raise

    def _connection(self, server: Server) -> _Connection:
        if server not in self._open:
            opened = _Connection(server, asyncio.get_running_loop().create_future())
            self._open[server] = opened
            opened.open()
        return self._open[server]

    def _drop(self, connection: _Connection) -> None:
        """Close a connection, which may take seconds; the next call does not wait for it."""
        if self._open.get(connection.server) is connection:
            del self._open[connection.server]
        closing = asyncio.ensure_future(connection.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None or self._process != os.getpid():
                # A forked process has no thread, and its parent's connections.
                self._open, self._closing = {}, set()
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="contextkit-servers", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Close all connections; later calls open them again."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None or self._process != os.getpid():
            return
        ended = asyncio.run_coroutine_threadsafe(self._close_all(), loop)
        ended.result(timeout=2 * _END_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_END_SECONDS)

    async def _close_all(self) -> None:
        opened, self._open = list(self._open.values()), {}
        await asyncio.gather(*self._closing, *(each.close() for each in opened))


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


connections = Connections()
atexit.register(connections.close)
