"""An event loop in a thread of its own, for connections that outlive their users' event loops."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from attrs import define, field

from contextkit.fork_locks import ForkLock

__all__ = ["LoopThread"]

T = TypeVar("T")


@define(eq=False)
class LoopThread:
    """Runs coroutines for whoever asks, from any thread; begins when it is first asked.

    A child process that was forked has a loop of its own.

    Attributes:
        on_start: called in the new thread whenever a loop begins.
    """

    on_start: Callable[[], None]
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _process: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @property
    def begun(self) -> bool:
        """Whether it runs in this process."""
        return self._loop is not None and self._process == os.getpid()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result, for a caller with an event loop."""
        return await asyncio.wrap_future(self.submit(coroutine))

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start a coroutine."""
        with self._turn:
            return asyncio.run_coroutine_threadsafe(coroutine, self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or not self.begun:
            loop = asyncio.new_event_loop()
            threading.Thread(
                target=self._serve, args=(loop,), name="contextkit-cache", daemon=True
            ).start()
            # What could not begin is tried anew by the next one.
            self._loop, self._process = loop, os.getpid()
        return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        self.on_start()
        loop.run_forever()
        # Whoever waits for something gets it: everything here is bounded in time.
        left = asyncio.all_tasks(loop)
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], timeout: float) -> None:
        """End the loop, where there is one in this process.

        Args:
            last: makes what is run before.
            timeout: seconds that it may take.
        """
        with self._turn:
            loop, self._loop = self._loop, None
            if loop is None or self._process != os.getpid():
                return
        ending = asyncio.run_coroutine_threadsafe(last(), loop)
        with contextlib.suppress(Exception):
            ending.result(timeout)
        loop.call_soon_threadsafe(loop.stop)
