"""Keep the store open and batch an assembly's searches.

Ten searches made at the same time take one round trip.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar

from attrs import define, field

from contextkit.concurrency import in_thread
from contextkit.errors import StoreBusyError
from contextkit.models.record import Hit, Search
from contextkit.models.records import Store
from contextkit.store.base import RecordStore

_Waiting = tuple[Search, "asyncio.Future[list[Hit]]"]


_limit: ContextVar[float | None] = ContextVar("contextkit_store_limit", default=None)


@contextlib.contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Limit how long `held` waits in this block."""
    token = _limit.set(seconds)
    try:
        yield
    finally:
        _limit.reset(token)


@contextlib.asynccontextmanager
async def held(store: RecordStore, first: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Keep the store open for the duration of the block.

    Waiting for the store does not block the event loop. A caller that is cancelled while it
    waits does not keep the store open, even if its event loop ends with it.

    Args:
        store: the store.
        first: called in the same thread before the store is opened; default: nothing.

    Raises `StoreBusyError` after the time limit of `waiting_at_most`.
    """
    hold, limit = _Hold(store.hold()), _limit.get()

    def prepare_and_take() -> None:
        first()
        hold.take()

    try:
        try:
            async with asyncio.timeout(limit) as waiting:
                await in_thread(prepare_and_take)
        except TimeoutError as error:
            if not waiting.expired():
                raise
            raise StoreBusyError(f"the store was not open within {limit:.3g} s") from error
        yield
    finally:
        hold.leave()


@define(eq=False)
class _Hold:
    """A hold that different threads take and release."""

    _hold: AbstractContextManager[None]
    _turn: threading.Lock = field(factory=threading.Lock, init=False)
    _taken: bool = field(default=False, init=False)
    _left: bool = field(default=False, init=False)

    def take(self) -> None:
        self._hold.__enter__()
        with self._turn:
            self._taken = wanted = not self._left
        if not wanted:
            self._hold.__exit__(None, None, None)

    def leave(self) -> None:
        with self._turn:
            self._left, taken = True, self._taken
        if taken:
            self._hold.__exit__(None, None, None)


@define(eq=False)
class BatchSearcher:
    """Collects an assembly's searches and sends them together.

    It belongs to one event loop. The first search schedules the batch at the end of the loop's
    queue, so every source that was ready to run is in it.
    """

    store: Store
    _waiting: list[_Waiting] = field(factory=list, init=False)
    _running: set[asyncio.Task[None]] = field(factory=set, init=False)

    async def __call__(self, search: Search) -> list[Hit]:
        """Answer one search; raise only that search's own error."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Hit]] = loop.create_future()
        if not self._waiting:
            loop.call_soon(self._send)
        self._waiting.append((search, future))
        return await future

    def _send(self) -> None:
        batch = [(search, future) for search, future in self._waiting if not future.done()]
        self._waiting = []
        if not batch:
            return
        task = asyncio.create_task(self._answer(batch))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

        def stop_unless_wanted(_: object) -> None:
            if all(future.done() for _, future in batch):
                task.cancel()

        for _, future in batch:
            future.add_done_callback(stop_unless_wanted)

    async def _answer(self, batch: list[_Waiting]) -> None:
        try:
            answers = await in_thread(lambda: self.store.search([search for search, _ in batch]))
        except Exception as error:  # noqa: BLE001 - passed on to the callers
            if len(batch) == 1:
                _settle(batch[0][1], error)
            else:
                # One failing search must not fail the others of its batch.
                await asyncio.gather(*(self._answer([alone]) for alone in batch))
            return
        for (_, future), hits in zip(batch, answers, strict=True):
            _settle(future, hits)


def _settle(future: asyncio.Future[list[Hit]], outcome: list[Hit] | Exception) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
