"""Where cached values are: in this process' memory, and behind it in Redis where one is set.

Cached values in this process' memory.

An event loop in a thread of its own, for connections that outlive their users' event loops.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field, frozen

from contextkit.cache.redis import RedisLevel
from contextkit.concurrency import ForkLock

if TYPE_CHECKING:
    from cachetools import TLRUCache
    from cashews.backends.redis import Redis


@define(eq=False)
class MemoryLevel:
    """The values that were used last, each for its time; for any thread.

    Attributes:
        size: values at most; beyond them the one goes that was used longest ago.
    """

    size: int
    _kept: TLRUCache[str, tuple[float, bytes]] = field(init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @_kept.default
    def _empty(self) -> TLRUCache[str, tuple[float, bytes]]:
        # Without a cache nobody needs it.
        from cachetools import TLRUCache

        return TLRUCache(self.size, ttu=_ends_at, timer=time.monotonic)

    def get(self, name: str) -> bytes | None:
        """What is kept under that name, or None."""
        with self._turn:
            kept = self._kept.get(name)
        return None if kept is None else kept[1]

    def keep(self, name: str, value: bytes, seconds: float) -> None:
        """Keep a value for some seconds."""
        with self._turn:
            self._kept[name] = seconds, value


def _ends_at(name: str, kept: tuple[float, bytes], now: float) -> float:  # noqa: ARG001 - cachetools'
    return now + kept[0]


T = TypeVar("T")


@define(eq=False)
class LoopThread:
    """Runs coroutines for whoever asks, from any thread; begins when it is first asked.

    A child process that was forked has a loop of its own.

    Attributes:
        on_start: called in the new thread whenever a loop begins.
    """

    on_start: Callable[[], None]
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _process: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @property
    def begun(self) -> bool:
        """Whether it runs in this process."""
        return self._loop is not None and self._process == os.getpid()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's result, for a caller with an event loop."""
        return await asyncio.wrap_future(self.submit(coroutine))

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start a coroutine."""
        with self._turn:
            return asyncio.run_coroutine_threadsafe(coroutine, self._running())

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None or not self.begun:
            loop = asyncio.new_event_loop()
            threading.Thread(
                target=self._serve, args=(loop,), name="contextkit-cache", daemon=True
            ).start()
            # What could not begin is tried anew by the next one.
            self._loop, self._process = loop, os.getpid()
        return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        self.on_start()
        loop.run_forever()
        # Whoever waits for something gets it: everything here is bounded in time.
        left = asyncio.all_tasks(loop)
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.close()

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], timeout: float) -> None:
        """End the loop, where there is one in this process.

        Args:
            last: makes what is run before.
            timeout: seconds that it may take.
        """
        with self._turn:
            loop, self._loop = self._loop, None
            if loop is None or self._process != os.getpid():
                return
        ending = asyncio.run_coroutine_threadsafe(last(), loop)
        with contextlib.suppress(Exception):
            ending.result(timeout)
        loop.call_soon_threadsafe(loop.stop)


PREFIX = "contextkit:1:"
"""What every key in Redis begins with; the number is that of the values' form."""


_KEYS_AT_ONCE = 1000
_PATIENCE_SECONDS = 5.0
"""How long looking at all keys and deleting them may take."""


@frozen
class Kind:
    """One sort of cached values.

    Attributes:
        name: the sort's, part of its keys.
        size: values in memory at most; 0 for none, where something else keeps them there.
        memory_seconds: how long one stays in memory.
        redis_seconds: how long one stays in Redis.
    """

    name: str
    size: int
    memory_seconds: float
    redis_seconds: float


@define(eq=False)
class Levels:
    """Gets and keeps bytes, from any thread and event loop; a failing Redis is a miss.

    Attributes:
        redis: the Redis behind the memory, or None.
        jitter: the part of a value's time that may be cut off, 0..1, so that what was kept
            at one time does not end at one time.
        randomness: gives numbers within 0..1.
    """

    redis: RedisLevel | None = None
    jitter: float = 0.0
    randomness: random.Random = field(factory=random.SystemRandom)
    _memories: dict[str, MemoryLevel] = field(factory=dict, init=False)
    _loop: LoopThread = field(init=False)
    _prepared: bool = field(default=False, init=False)

    @_loop.default
    def _make_loop(self) -> LoopThread:
        return LoopThread(self._begin)

    def _begin(self) -> None:
        if self.redis is not None:
            self.redis.forget()

    async def prepare(self) -> None:
        """Import now what the first value would wait for."""
        if self.redis is not None and not self._prepared:
            await self._loop.run(self._import(self.redis))
            self._prepared = True

    async def _import(self, redis: RedisLevel) -> None:
        with contextlib.suppress(ValueError):
            await redis.connected()

    # -- values ---------------------------------------------------------------------------

    async def get(self, kind: Kind, key: str) -> bytes | None:
        """What is kept there, or None."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        return await self._loop.run(self._fetched(kind, key))

    async def get_all(self, kind: Kind, keys: Sequence[str]) -> list[bytes | None]:
        """What is kept at each of several places."""
        return await asyncio.gather(*(self.get(kind, key) for key in keys))

    def get_blocking(self, kind: Kind, key: str) -> bytes | None:
        """`get` for a thread without an event loop."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        return self._loop.submit(self._fetched(kind, key)).result()

    async def keep(self, kind: Kind, key: str, value: bytes) -> None:
        """Keep a value for its time."""
        part = self._remember(kind, key, value)
        if self.redis is not None:
            await self._loop.run(self._send(kind, key, value, part))

    def keep_blocking(self, kind: Kind, key: str, value: bytes) -> None:
        """`keep` for a thread without an event loop."""
        part = self._remember(kind, key, value)
        if self.redis is not None:
            self._loop.submit(self._send(kind, key, value, part)).result()

    def _remembered(self, kind: Kind, key: str) -> bytes | None:
        return self._memory(kind).get(_name(kind, key)) if kind.size else None

    def _remember(self, kind: Kind, key: str, value: bytes) -> float:
        """Keep a value in memory; gives the part of its time that it has here and in Redis."""
        part = 1.0 - self.jitter * self.randomness.random()
        if kind.size:
            self._memory(kind).keep(_name(kind, key), value, kind.memory_seconds * part)
        return part

    async def _fetched(self, kind: Kind, key: str) -> bytes | None:
        name = _name(kind, key)
        found, left = await self._on_redis(lambda redis: _with_time(redis, name)) or (None, 0)
        if found is not None and kind.size and left > 0:
            self._memory(kind).keep(name, found, min(left, kind.memory_seconds))
        return found

    async def _send(self, kind: Kind, key: str, value: bytes, part: float) -> None:
        name = _name(kind, key)
        seconds = max(0.001, kind.redis_seconds * part)
        await self._on_redis(lambda redis: redis.set(name, _label(name) + value, seconds))

    def _memory(self, kind: Kind) -> MemoryLevel:
        # Of two threads that make it at once both have the same one.
        return self._memories.setdefault(kind.name, MemoryLevel(kind.size))

    # -- tokens ---------------------------------------------------------------------------

    def tokens_blocking(self, names: Sequence[str], new: Callable[[], str]) -> list[str] | None:
        """The tokens of some names that all users of a Redis agree on; new where there are none.

        None without a Redis that answers.
        """

        async def made(redis: Redis, key: str) -> object:
            # Of several who make one at once the first one's counts.
            await redis.set(key, new().encode(), exist=False)
            return await redis.get(key)

        async def read(redis: Redis) -> list[str] | None:
            keys = [PREFIX + name for name in names]
            there = zip(keys, await redis.get_many(*keys), strict=True)
            found = [await made(redis, key) if token is None else token for key, token in there]
            tokens = [token.decode() for token in found if isinstance(token, bytes)]
            return tokens if len(tokens) == len(keys) else None

        return self._loop.submit(self._on_redis(read)).result()

    @property
    def run(self) -> str | None:
        """The run of the Redis that answered last; None without one, or where it is not told."""
        return None if self.redis is None else self.redis.run

    def set_token_blocking(self, name: str, new: str) -> bool:
        """Replace the token of a name; False without a Redis that answers."""

        async def write(redis: Redis) -> bool:
            return await redis.set(PREFIX + name, new.encode())

        return bool(self._loop.submit(self._on_redis(write)).result())

    # -- all of them ----------------------------------------------------------------------

    def counts_blocking(self) -> dict[str, int] | None:
        """Kind -> values in Redis, of all users; None without a Redis that answers."""

        async def counted(redis: Redis) -> dict[str, int]:
            found = Counter[str]()
            async for key in redis.scan(f"{PREFIX}*", batch_size=_KEYS_AT_ONCE):
                found[key.removeprefix(PREFIX).partition(":")[0]] += 1
            return dict(found)

        return self._loop.submit(self._on_redis(counted, _PATIENCE_SECONDS)).result()

    def clear_blocking(self, kinds: Iterable[Kind]) -> bool:
        """Drop what is kept of these kinds; False where a Redis is set and does not answer."""

        async def delete(redis: Redis) -> bool:
            for kind in kinds:
                await redis.delete_match(f"{PREFIX}{kind.name}:*")
            return True

        self._memories.clear()
        if self.redis is None:
            return True
        return self._loop.submit(self._on_redis(delete, _PATIENCE_SECONDS)).result() is not None

    def close(self) -> None:
        """Drop what is in memory and let go of the connections; it begins anew when it is used."""

        async def end() -> None:
            if self.redis is not None:
                await self.redis.close()

        self._memories.clear()
        self._loop.close(end, _PATIENCE_SECONDS)

    async def _on_redis(
        self, operation: Callable[[Redis], Awaitable[T]], seconds: float | None = None
    ) -> T | None:
        return None if self.redis is None else await self.redis.attempt(operation, seconds)


async def _with_time(redis: Redis, name: str) -> tuple[bytes | None, float]:
    """What is kept there, and the seconds that it has left."""
    found = await redis.get(name)
    label = _label(name)
    if not isinstance(found, bytes) or not found.startswith(label):
        return None, 0.0
    return found.removeprefix(label), float(await redis.get_expire(name))


def _name(kind: Kind, key: str) -> str:
    return f"{PREFIX}{kind.name}:{key}"


def _label(name: str) -> bytes:
    """What a value in Redis begins with: whose it is, should it ever come in another's place."""
    return name.encode() + b"\n"
