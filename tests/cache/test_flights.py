"""Equal computations of one moment are one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from contextkit.cache.contexts import Flights


class Computation:
    """Counts how often it is begun, and ends when a test says so."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.ready = asyncio.Event()

    async def __call__(self) -> int:
        """How often it was begun; raises `ValueError` at the third."""
        self.begun += 1
        try:
            await self.ready.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.begun == 3:
            raise ValueError("three")
        return self.begun


async def joined(
    flights: Flights[int], computation: Computation, count: int
) -> list[asyncio.Task[int]]:
    """So many who wait for the same."""
    tasks = [asyncio.create_task(flights.join("key", computation)) for _ in range(count)]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_who_is_cancelled_leaves_the_others_alone() -> None:
    """The first, who began it, too."""
    flights, computation = Flights[int](), Computation()
    first, second, third = await joined(flights, computation, 3)
    first.cancel()
    third.cancel()
    await asyncio.wait([first, third])
    assert first.cancelled()
    assert third.cancelled()
    computation.ready.set()
    assert await second == 1
    assert (computation.begun, computation.cancelled) == (1, 0)


async def test_where_all_are_cancelled_it_ends() -> None:
    """Nobody wants it any more; who comes later has one of his own."""
    flights, computation = Flights[int](), Computation()
    tasks = await joined(flights, computation, 2)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for _ in range(3):
        await asyncio.sleep(0)
    assert computation.cancelled == 1
    computation.ready.set()
    assert await flights.join("key", computation) == 2


async def test_an_error_nobody_waits_for_is_none(recwarn: pytest.WarningsRecorder) -> None:
    """No complaint of a task whose exception was never looked at."""
    flights, computation = Flights[int](), Computation()
    computation.begun = 2
    [task] = await joined(flights, computation, 1)
    task.cancel()
    computation.ready.set()
    await asyncio.wait([task])
    assert not recwarn.list


def test_event_loops_have_their_own() -> None:
    """What one loop computes cannot be awaited in another."""
    flights, begun, go_on = Flights[int](), threading.Event(), threading.Event()

    async def slow() -> int:
        begun.set()
        await asyncio.to_thread(go_on.wait, 20)
        return 1

    async def quick() -> int:
        return 2

    async def join(compute: Callable[[], Awaitable[int]]) -> int:
        return await flights.join("key", compute)

    with ThreadPoolExecutor(1) as other:
        waiting = other.submit(asyncio.run, join(slow))
        assert begun.wait(20)
        assert asyncio.run(join(quick)) == 2
        go_on.set()
        assert waiting.result() == 1
