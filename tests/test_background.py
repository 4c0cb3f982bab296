"""Threads beside the event loop, and the way back into it."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from contextkit.concurrency import in_loop, in_thread


async def where() -> tuple[int, asyncio.AbstractEventLoop]:
    """The thread and the loop that it runs in."""
    await asyncio.sleep(0)
    return threading.get_ident(), asyncio.get_running_loop()


async def test_a_thread_can_await_in_the_loop_that_started_it() -> None:
    """The coroutine runs in the loop's own thread; what it returns or raises comes back."""

    async def fail() -> None:
        raise LookupError("nothing here")

    here = (threading.get_ident(), asyncio.get_running_loop())
    there, found = await in_thread(lambda: (threading.get_ident(), in_loop(where())))
    assert found == here
    assert there != here[0]
    with pytest.raises(LookupError, match="nothing here"):
        await in_thread(lambda: in_loop(fail()))


async def test_threads_are_used_again_but_never_for_two_calls_at_once() -> None:
    """A call that hangs keeps its thread; the next ones get others."""
    release = threading.Event()
    hanging = asyncio.create_task(in_thread(lambda: (release.wait(60), threading.get_ident())[1]))
    await asyncio.sleep(0)
    first = await in_thread(threading.get_ident)
    second = await in_thread(threading.get_ident)
    release.set()
    assert second == first != await hanging


async def test_only_a_thread_that_a_loop_started_has_a_way_back() -> None:
    """In the loop's own thread it would wait for itself, elsewhere there is no loop."""

    async def nested() -> object:
        return in_loop(where())

    with pytest.raises(RuntimeError, match="expected a thread started by `in_thread`"):
        in_loop(where())
    with pytest.raises(RuntimeError, match="expected a thread started by `in_thread`"):
        await in_thread(lambda: in_loop(nested()))
    with pytest.raises(RuntimeError, match="expected a thread started by `in_thread`"):
        await asyncio.to_thread(in_loop, where())


async def test_a_thread_that_nobody_waits_for_leaves_nothing_in_the_loop() -> None:
    """What it awaits is cancelled, what it would await next does not begin."""
    started, ended, refused = asyncio.Event(), asyncio.Event(), threading.Event()
    outcomes: list[Any] = []

    async def hang() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def call() -> None:
        for _ in range(2):
            try:
                in_loop(hang())
            except Exception as error:  # noqa: BLE001 - of `concurrent.futures`
                outcomes.append(type(error).__name__)
        refused.set()

    waiting = asyncio.create_task(in_thread(call))
    await started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await ended.wait()
    await asyncio.to_thread(refused.wait, 20)
    assert outcomes == ["CancelledError", "CancelledError"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_loop_that_has_closed_is_no_way_back() -> None:
    """A thread that outlives its loop gets an error, and no coroutine is forgotten."""
    go_on, ended = threading.Event(), threading.Event()
    outcomes: list[str] = []

    def call() -> None:
        go_on.wait(20)
        try:
            in_loop(where())
        except Exception as error:  # noqa: BLE001 - of `concurrent.futures`
            outcomes.append(type(error).__name__)
        ended.set()

    async def leave() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(call), 0.001)

    await asyncio.to_thread(asyncio.run, leave())
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 20)
    assert outcomes == ["CancelledError"]
