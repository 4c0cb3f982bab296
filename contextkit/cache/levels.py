"""Storage of cached values: memory, and optionally Redis behind it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from attrs import define, field, frozen

from contextkit.cache.redis import RedisLevel
from contextkit.concurrency import ForkLock, in_thread

if TYPE_CHECKING:
    from cachetools import TLRUCache
    from redis import Redis

PREFIX = "contextkit:1:"
"""Prefix of all keys in Redis; the number is the version of the values' format."""

_KEYS_AT_ONCE = 1000
_TIMEOUT_SECONDS = 5.0
"""Time limit for scanning and deleting all keys."""

_Found = tuple[bytes, float]


@define(eq=False)
class MemoryLevel:
    """Thread-safe cache in memory; each value has its own lifetime.

    Attributes:
        size: maximum number of values; the least recently used one is dropped.
    """

    size: int
    _kept: TLRUCache[str, tuple[float, bytes]] = field(init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @_kept.default
    def _empty(self) -> TLRUCache[str, tuple[float, bytes]]:
        # Imported here because it is not needed without a cache.
        from cachetools import TLRUCache

        return TLRUCache(self.size, ttu=_ends_at, timer=time.monotonic)

    def get(self, name: str) -> bytes | None:
        """Return the value of a name, or None."""
        with self._turn:
            kept = self._kept.get(name)
        return None if kept is None else kept[1]

    def keep(self, name: str, value: bytes, seconds: float) -> None:
        """Store a value for some seconds."""
        with self._turn:
            self._kept[name] = seconds, value

    def remove_expired(self) -> int:
        """Free the memory of expired values; return how many values are left."""
        with self._turn:
            self._kept.expire()
            return len(self._kept)


def _ends_at(name: str, kept: tuple[float, bytes], now: float) -> float:  # noqa: ARG001 - cachetools'
    return now + kept[0]


@frozen
class Kind:
    """One kind of cached values.

    Attributes:
        name: its name, a part of its keys.
        size: maximum number of values in memory; 0: they are cached in memory elsewhere.
        memory_seconds: lifetime in memory.
        redis_seconds: lifetime in Redis.
    """

    name: str
    size: int
    memory_seconds: float
    redis_seconds: float


@define(eq=False)
class Levels:
    """Stores bytes, from any thread and event loop.

    A failing Redis is a miss.

    Attributes:
        redis: the Redis behind the memory, or None.
        jitter: maximum share of a lifetime that is cut off, 0..1, so that values stored at the
            same time do not expire at the same time.
        randomness: the source of random numbers.
        cleanup_interval: seconds after which expired values leave the memory of a process that
            keeps no new ones.
    """

    redis: RedisLevel | None = None
    jitter: float = 0.0
    randomness: random.Random = field(factory=random.SystemRandom)
    cleanup_interval: float = 300.0
    _memories: dict[str, MemoryLevel] = field(factory=dict, init=False)
    _cleaner: threading.Timer | None = field(default=None, init=False)

    async def prepare(self) -> None:
        """Import modules ahead of the first value."""
        if self.redis is not None:
            with contextlib.suppress(ValueError):
                await in_thread(self.redis.connected)

    # -- values ---------------------------------------------------------------------------

    async def get(self, kind: Kind, key: str) -> bytes | None:
        """Return the value of a key, or None."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        name = _name(kind, key)
        return self._fetched(kind, name, await self.redis.attempt_async(partial(_with_time, name)))

    async def get_all(self, kind: Kind, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of several keys."""
        return await asyncio.gather(*(self.get(kind, key) for key in keys))

    def get_blocking(self, kind: Kind, key: str) -> bytes | None:
        """`get` for a thread without an event loop."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        name = _name(kind, key)
        return self._fetched(kind, name, self.redis.attempt(partial(_with_time, name)))

    async def keep(self, kind: Kind, key: str, value: bytes) -> None:
        """Store a value for its lifetime."""
        part = self._remember(kind, key, value)
        if self.redis is not None:
            await self.redis.attempt_async(_sent(kind, key, value, part))

    def keep_blocking(self, kind: Kind, key: str, value: bytes) -> None:
        """`keep` for a thread without an event loop."""
        part = self._remember(kind, key, value)
        if self.redis is not None:
            self.redis.attempt(_sent(kind, key, value, part))

    def _remembered(self, kind: Kind, key: str) -> bytes | None:
        return self._memory(kind).get(_name(kind, key)) if kind.size else None

    def _remember(self, kind: Kind, key: str, value: bytes) -> float:
        """Store a value in memory.

        Return the share of its lifetime without jitter.
        """
        part = 1.0 - self.jitter * self.randomness.random()
        if kind.size:
            self._keep_in_memory(kind, _name(kind, key), value, kind.memory_seconds * part)
        return part

    def _keep_in_memory(self, kind: Kind, name: str, value: bytes, seconds: float) -> None:
        self._memory(kind).keep(name, value, seconds)
        # A forked process has no thread of its parent's.
        if self._cleaner is None or not self._cleaner.is_alive():
            self._clean_later()

    def _clean_later(self) -> None:
        self._cleaner = threading.Timer(self.cleanup_interval, self._clean)
        self._cleaner.daemon = True
        self._cleaner.start()

    def _clean(self) -> None:
        if sum([memory.remove_expired() for memory in list(self._memories.values())]):
            self._clean_later()

    def _fetched(self, kind: Kind, name: str, found: _Found | None) -> bytes | None:
        """Store a value from Redis in memory, too."""
        if found is None:
            return None
        value, left = found
        if kind.size and left > 0:
            self._keep_in_memory(kind, name, value, min(left, kind.memory_seconds))
        return value

    def _memory(self, kind: Kind) -> MemoryLevel:
        # Two threads that create it at the same time get the same one.
        return self._memories.setdefault(kind.name, MemoryLevel(kind.size))

    # -- tokens ---------------------------------------------------------------------------

    def tokens_blocking(self, names: Sequence[str], new: Callable[[], str]) -> list[str] | None:
        """Return the tokens of some names, creating missing ones.

        All users of a Redis get the same tokens. None if Redis does not answer.
        """

        def made(redis: Redis, key: str) -> object:
            # If several clients create a token, the first one wins.
            redis.set(key, new().encode(), nx=True)
            return redis.get(key)

        def read(redis: Redis) -> list[str] | None:
            keys = [PREFIX + name for name in names]
            there: Any = zip(keys, cast("list[Any]", redis.mget(keys)), strict=True)
            found = [made(redis, key) if token is None else token for key, token in there]
            tokens = [token.decode() for token in found if isinstance(token, bytes)]
            return tokens if len(tokens) == len(keys) else None

        return None if self.redis is None else self.redis.attempt(read)

    @property
    def run(self) -> str | None:
        """The id of the answering server process, if known."""
        return None if self.redis is None else self.redis.run

    def set_token_blocking(self, name: str, new: str) -> bool:
        """Replace the token of a name.

        Returns False if Redis does not answer.
        """

        def write(redis: Redis) -> object:
            return redis.set(PREFIX + name, new.encode())

        return self.redis is not None and bool(self.redis.attempt(write))

    # -- all of them ----------------------------------------------------------------------

    def counts_blocking(self) -> dict[str, int] | None:
        """Count the values in Redis by kind.

        Returns None if it does not answer.
        """

        def counted(redis: Redis) -> dict[str, int]:
            found = Counter[str]()
            for key in redis.scan_iter(f"{PREFIX}*", count=_KEYS_AT_ONCE):
                found[key.decode().removeprefix(PREFIX).partition(":")[0]] += 1
            return dict(found)

        return None if self.redis is None else self.redis.attempt(counted, _TIMEOUT_SECONDS)

    def clear_blocking(self, kinds: Iterable[Kind]) -> bool:
        """Delete all values of these kinds.

        Returns False if Redis does not answer.
        """

        def delete(redis: Redis) -> bool:
            for kind in kinds:
                keys = redis.scan_iter(f"{PREFIX}{kind.name}:*", count=_KEYS_AT_ONCE)
                while some := [*islice(keys, _KEYS_AT_ONCE)]:
                    redis.delete(*some)
            return True

        self._memories.clear()
        return self.redis is None or self.redis.attempt(delete, _TIMEOUT_SECONDS) is not None

    def close(self) -> None:
        """Clear the memory and close the connections.

        The next use opens them again.
        """
        self._memories.clear()
        if self._cleaner is not None:
            self._cleaner.cancel()
        if self.redis is not None:
            self.redis.close()


def _with_time(name: str, redis: Redis) -> _Found | None:
    """Return a value and its remaining lifetime in seconds."""
    found: Any = redis.get(name)
    label = _label(name)
    if not isinstance(found, bytes) or not found.startswith(label):
        return None
    left: Any = redis.pttl(name)
    return found.removeprefix(label), left / 1000


def _sent(kind: Kind, key: str, value: bytes, part: float) -> Callable[[Redis], object]:
    """Build the operation that stores a value in Redis."""
    name = _name(kind, key)
    milliseconds = max(1, round(kind.redis_seconds * part * 1000))
    return lambda redis: redis.set(name, _label(name) + value, px=milliseconds)


def _name(kind: Kind, key: str) -> str:
    return f"{PREFIX}{kind.name}:{key}"


def _label(name: str) -> bytes:
    """The label of a value in Redis, which reveals misplacement."""
    return name.encode() + b"\n"
