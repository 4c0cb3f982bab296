"""Searches of one moment travel as one batch: ten questions cost one round trip."""

from __future__ import annotations

import asyncio

from attrs import define, field

from contextkit.background import in_thread
from contextkit.records import Hit, Search, Store

__all__ = ["BatchSearcher"]

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
