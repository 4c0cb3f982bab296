"""Holding the store while an assembly's sources ask it.

Searches of one moment travel as one batch: ten questions cost one round trip.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

from attrs import define, field

from contextkit.concurrency import in_thread
from contextkit.models.record import Hit, Search
from contextkit.models.records import Store
from contextkit.store.base import RecordStore


@contextlib.asynccontextmanager
async def held(store: RecordStore, first: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Hold the store for as long as this lasts: one turn for all who ask meanwhile.

    The wait for it does not block the event loop. A caller that is cancelled while it
    waits leaves no hold behind, even where its event loop ends with it.

    Args:
        store: the store.
        first: called before the hold is taken, in the same thread beside the event loop;
            default: nothing is.
    """
    hold = _Hold(store.hold())

    def prepare_and_take() -> None:
        first()
        hold.take()

    try:
        await in_thread(prepare_and_take)
        yield
    finally:
        hold.leave()


@define(eq=False)
class _Hold:
    """A hold that one thread takes and another leaves, whichever of the two comes first."""

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


_Waiting = tuple[Search, "asyncio.Future[list[Hit]]"]


@define(eq=False)
class BatchSearcher:
    """Collects the searches that one assembly's sources ask for, and asks them at once.

    It belongs to one event loop. Every source that was ready to run asks before the batch
    leaves, as that is put at the end of the loop's queue by the first who asks.
    """

    store: Store
    _waiting: list[_Waiting] = field(factory=list, init=False)
    _running: set[asyncio.Task[None]] = field(factory=set, init=False)

    async def __call__(self, search: Search) -> list[Hit]:
        """The hits of one search; raises what that search alone would raise."""
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
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            if len(batch) == 1:
                _settle(batch[0][1], error)
            else:
                # One bad question must not cost the others their answers.
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
