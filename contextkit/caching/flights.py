"""One computation for all who want its result at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from attrs import define, field

__all__ = ["Flights"]

T = TypeVar("T")

_Key = tuple[asyncio.AbstractEventLoop, str]


@define
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


@define(eq=False)
class Flights(Generic[T]):
    """Computations under way, by key and event loop."""

    _flying: dict[_Key, _Flight[T]] = field(factory=dict, init=False)

    async def join(self, key: str, compute: Callable[[], Awaitable[T]]) -> T:
        """The result of the computation of that key: the one under way, or a new one.

        Everybody gets its result or what it raises. It goes on as long as somebody waits;
        whoever is cancelled leaves the others alone.
        """
        place = (asyncio.get_running_loop(), key)
        flight = self._flying.get(place)
        if flight is None:
            flight = self._flying[place] = _Flight(asyncio.create_task(_run(compute)))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if self._flying.get(place) is flight and (flight.task.done() or not flight.waiting):
                del self._flying[place]
            if not flight.waiting:
                flight.task.cancel()


async def _run(compute: Callable[[], Awaitable[T]]) -> T:
    return await compute()
