"""Where cached values are: in this process' memory, and behind it in Redis where one is set."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from attrs import define, field, frozen

from contextkit.caching.loop_thread import LoopThread
from contextkit.caching.memory_level import MemoryLevel
from contextkit.caching.redis_level import RedisLevel

if TYPE_CHECKING:
    from cashews.backends.redis import Redis

__all__ = ["PREFIX", "Kind", "Levels"]

PREFIX = "contextkit:1:"
"""What every key in Redis begins with; the number is that of the values' form."""

T = TypeVar("T")

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
