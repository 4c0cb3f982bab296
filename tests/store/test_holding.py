"""The store is held while it is asked, and never for nobody."""

from __future__ import annotations

import asyncio
import threading

import pytest
from attrs import define, field

from contextkit.errors import StoreBusyError
from contextkit.store.hold import held


@define(eq=False)
class Shared:
    """A store that is held by turns: a hold waits until a test lets it in."""

    let_in: threading.Event = field(factory=threading.Event)
    waiting: threading.Event = field(factory=threading.Event)
    taken: threading.Event = field(factory=threading.Event)
    left: threading.Event = field(factory=threading.Event)
    holds: int = 0
    busy: bool = False

    def hold(self) -> Shared:
        return self

    def __enter__(self) -> None:
        self.waiting.set()
        assert self.let_in.wait(20)
        if self.busy:
            raise StoreBusyError("held")
        self.holds += 1
        self.taken.set()

    def __exit__(self, *_: object) -> None:
        self.holds -= 1
        self.left.set()


async def hold_for_a_moment(store: Shared) -> int:
    """How many hold the store meanwhile."""
    async with held(store):  # type: ignore[arg-type]
        return store.holds


async def test_a_hold_lasts_as_long_as_the_block() -> None:
    """And is let go of, also where the block fails."""
    store = Shared()
    store.let_in.set()
    assert await hold_for_a_moment(store) == 1
    assert store.holds == 0
    with pytest.raises(ZeroDivisionError):
        async with held(store):  # type: ignore[arg-type]
            raise ZeroDivisionError
    assert store.holds == 0


async def test_waiting_for_a_hold_does_not_block_the_event_loop() -> None:
    """Another process may hold the store for seconds."""
    store = Shared()
    holding = asyncio.create_task(hold_for_a_moment(store))
    assert await asyncio.to_thread(store.waiting.wait, 20)
    store.let_in.set()
    assert await holding == 1


async def test_a_hold_that_fails_is_none() -> None:
    """The error is the store's."""
    store = Shared(busy=True)
    store.let_in.set()
    with pytest.raises(StoreBusyError):
        await hold_for_a_moment(store)
    assert store.holds == 0


async def test_a_hold_that_comes_after_a_cancellation_is_let_go_of() -> None:
    """The thread that waited for it sees that nobody wants it any more."""
    store = Shared()
    holding = asyncio.create_task(hold_for_a_moment(store))
    await asyncio.to_thread(store.waiting.wait, 20)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    store.let_in.set()
    assert await asyncio.to_thread(store.left.wait, 20)
    assert store.holds == 0


def test_a_hold_that_comes_after_the_event_loop_has_closed_is_let_go_of() -> None:
    """Else no other process could use the store while this one lives."""
    store = Shared()

    async def give_up() -> None:
        holding = asyncio.create_task(hold_for_a_moment(store))
        await asyncio.to_thread(store.waiting.wait, 20)
        holding.cancel()

    asyncio.run(give_up())
    store.let_in.set()
    assert store.left.wait(20)
    assert store.taken.is_set()
    assert store.holds == 0


async def test_a_cancellation_within_the_hold_lets_go() -> None:
    """Once it was taken, the block's end is its end."""
    store = Shared()
    store.let_in.set()

    async def hold_long() -> None:
        async with held(store):  # type: ignore[arg-type]
            await asyncio.sleep(20)

    holding = asyncio.create_task(hold_long())
    await asyncio.to_thread(store.taken.wait, 20)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    assert store.holds == 0
