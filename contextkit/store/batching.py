"""Searches of one moment travel as one batch: ten questions cost one round trip."""

from __future__ import annotations

import asyncio

from attrs import define, field

from contextkit.gather import in_thread
from contextkit.records import Hit, Search
from contextkit.store.base import RecordStore

__all__ = ["BatchSearcher"]

_Waiting = tuple[Search, "asyncio.Future[list[Hit]]"]


@define(eq=False)
class BatchSearcher:
    """Collects the searches that one assembly's sources ask for, and asks them at once.

    It belongs to one event loop. Every source that was ready to run asks before the batch
    leaves, as that is put at the end of the loop's queue by the first who asks.
    """

    store: RecordStore
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
        batch, self._waiting = self._waiting, []
        task = asyncio.create_task(self._answer(batch))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _answer(self, batch: list[_Waiting]) -> None:
        wanted = [(search, future) for search, future in batch if not future.done()]
        try:
            answers = await in_thread(lambda: self.store.search([search for search, _ in wanted]))
        except Exception as error:  # noqa: BLE001 - handed to whoever asked
            if len(wanted) == 1:
                _settle(wanted[0][1], error)
            else:
                # One bad question must not cost the others their answers.
                await asyncio.gather(*(self._answer([alone]) for alone in wanted))
            return
        for (_, future), hits in zip(wanted, answers, strict=True):
            _settle(future, hits)


def _settle(future: asyncio.Future[list[Hit]], outcome: list[Hit] | Exception) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
