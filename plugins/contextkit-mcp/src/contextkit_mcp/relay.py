"""Relay progress from a working thread to a client.

At most ten messages are sent per second, fewer if the client is slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable

from attrs import define, field

from contextkit.errors import ContextKitError
from contextkit.models import Progress
from contextkit.text import visible

SECONDS_BETWEEN = 0.1
"""Least seconds between two messages, except for the last one."""


Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends progress: amount done, and total if known."""


@define(eq=False)
class ProgressRelay:
    """Sums the progress of sources, and sends the latest sum.

    Make it in the event loop that sends. Reports between two messages are sent with the second one,
    so a client that reads slowly does not block the call.

    Attributes:
        send: sends a message.
    """

    send: Send
    _latest: dict[tuple[str, str], Progress] = field(factory=dict, init=False)
    _message: str = field(default="", init=False)
    _sent: int = field(default=0, init=False)
    _given_up: bool = field(default=False, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _news: asyncio.Event = field(factory=asyncio.Event, init=False)
    _closing: asyncio.Event = field(factory=asyncio.Event, init=False)
    _loop: asyncio.AbstractEventLoop = field(factory=asyncio.get_running_loop, init=False)

    def report(self, progress: Progress) -> None:
        """Record a source's progress; callable from any thread.

        Raises `ContextKitError` if the caller has disconnected, which ends the call.
        """
        if self._given_up:
            raise ContextKitError("the client cancelled the call")
        with self._lock:
            self._latest[progress.source, progress.label] = progress
            of = "" if progress.total is None else f" of {progress.total}"
            self._message = visible(f"{progress.source}: {progress.done}{of} {progress.label}")
        self._wake()

    def close(self) -> None:
        """Let `send_all` end after the last message."""
        self._closing.set()
        self._wake()

    def give_up(self) -> None:
        """Cancel the reporting call at its next report."""
        self._given_up = True

    async def send_all(self) -> None:
        """Send reports until closed."""
        closed = False
        while not closed:
            await self._news.wait()
            self._news.clear()
            # Read before the last sum is sent, so that none is missed.
            closed = self._closing.is_set()
            await self._send_sum()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), SECONDS_BETWEEN)

    async def _send_sum(self) -> None:
        with self._lock:
            parts, message = list(self._latest.values()), self._message
        done = sum(part.done for part in parts)
        totals = [part.total for part in parts if part.total is not None]
        # A client must never see progress stop or decrease.
        if done > self._sent:
            self._sent = done
            total = max(sum(totals), done) if len(totals) == len(parts) else None
            await self.send(done, total, message)

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._news.set)
