"""The cached values in a process' own memory."""

from __future__ import annotations

import asyncio
import threading
import time

from contextkit.cache.levels import Kind, Levels, MemoryLevel

HOUR = 3600.0


def test_the_value_that_was_used_longest_ago_goes() -> None:
    """There are `size` of them at most; to get one is to use it, and so is to keep it anew."""
    memory = MemoryLevel(3)
    for name in ("a", "b", "c"):
        memory.keep(name, name.encode(), HOUR)
    assert memory.get("a") == b"a"
    memory.keep("b", b"B", HOUR)
    memory.keep("d", b"d", HOUR)
    assert [memory.get(name) for name in ("a", "b", "c", "d")] == [b"a", b"B", None, b"d"]


def test_a_value_ends_after_its_time() -> None:
    """One that has none left is no more, and another may take its place."""
    memory = MemoryLevel(3)
    memory.keep("a", b"a", 0.0)
    memory.keep("b", b"b", HOUR)
    assert [memory.get(name) for name in ("a", "a", "b", "c")] == [None, None, b"b", None]
    memory.keep("a", b"new", HOUR)
    assert memory.get("a") == b"new"


def test_without_a_redis_nobody_waits_for_another_thread() -> None:
    """What is in memory is got and kept where it is asked for."""
    levels, kind = Levels(), Kind("contexts", 10, HOUR, HOUR)

    async def ask() -> list[bytes | None]:
        await levels.prepare()
        await levels.keep(kind, "a", b"a")
        return await levels.get_all(kind, ["a", "b"])

    assert asyncio.run(ask()) == [b"a", None]
    assert levels.get_blocking(kind, "a") == b"a"
    assert all(thread.name != "contextkit-cache" for thread in threading.enumerate())
    levels.close()


def test_expired_values_leave_the_memory_of_an_idle_process() -> None:
    """Every `cleanup_interval` seconds, though nobody asks for them or keeps another."""
    levels, kind = Levels(cleanup_interval=0.02), Kind("contexts", 10, 0.01, HOUR)
    levels.keep_blocking(kind, "a", b"a")
    memory = levels._memories["contexts"]
    assert len(memory._kept._TLRUCache__items) == 1  # type: ignore[attr-defined]
    waiting = time.monotonic() + 30
    while memory._kept._TLRUCache__items and time.monotonic() < waiting:  # type: ignore[attr-defined]
        time.sleep(0.01)
    assert len(memory._kept._TLRUCache__items) == 0  # type: ignore[attr-defined]
    levels.close()
