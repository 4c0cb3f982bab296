"""Where cached values are: in this process' memory, and behind it in Redis where one is set."""

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
        # Without a cache it is not needed.
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

    def remove_expired(self) -> int:
        """Free the memory of expired values; return how many values are left."""
        with self._turn:
            self._kept.expire()
            return len(self._kept)


def _ends_at(name: str, kept: tuple[float, bytes], now: float) -> float:  # noqa: ARG001 - cachetools'
    return now + kept[0]


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
        """Import now what the first value would wait for."""
        if self.redis is not None:
            with contextlib.suppress(ValueError):
                await in_thread(self.redis.connected)

    # -- values ---------------------------------------------------------------------------

    async def get(self, kind: Kind, key: str) -> bytes | None:
        """What is kept there, or None."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        name = _name(kind, key)
        return self._fetched(kind, name, await self.redis.attempt_async(partial(_with_time, name)))

    async def get_all(self, kind: Kind, keys: Sequence[str]) -> list[bytes | None]:
        """What is kept at each of several places."""
        return await asyncio.gather(*(self.get(kind, key) for key in keys))

    def get_blocking(self, kind: Kind, key: str) -> bytes | None:
        """`get` for a thread without an event loop."""
        kept = self._remembered(kind, key)
        if kept is not None or self.redis is None:
            return kept
        name = _name(kind, key)
        return self._fetched(kind, name, self.redis.attempt(partial(_with_time, name)))

    async def keep(self, kind: Kind, key: str, value: bytes) -> None:
        """Keep a value for its time."""
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
        """Keep a value in memory; gives the part of its time that it has here and in Redis."""
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
        """A value from Redis, kept in memory for what is left of its time."""
        if found is None:
            return None
        value, left = found
        if kind.size and left > 0:
            self._keep_in_memory(kind, name, value, min(left, kind.memory_seconds))
        return value

    def _memory(self, kind: Kind) -> MemoryLevel:
        # Of two threads that make it at once both have the same one.
        return self._memories.setdefault(kind.name, MemoryLevel(kind.size))

    # -- tokens ---------------------------------------------------------------------------

    def tokens_blocking(self, names: Sequence[str], new: Callable[[], str]) -> list[str] | None:
        """The tokens of some names that all users of a Redis agree on; new where there are none.

        None without a Redis that answers.
        """

        def made(redis: Redis, key: str) -> object:
            # Of several who make one at once the first one's counts.
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
        """The run of the Redis that answered last; None without one, or where it is not told."""
        return None if self.redis is None else self.redis.run

    def set_token_blocking(self, name: str, new: str) -> bool:
        """Replace the token of a name; False without a Redis that answers."""

        def write(redis: Redis) -> object:
            return redis.set(PREFIX + name, new.encode())

        return self.redis is not None and bool(self.redis.attempt(write))

    # -- all of them ----------------------------------------------------------------------

    def counts_blocking(self) -> dict[str, int] | None:
        """Kind -> values in Redis, of all users; None without a Redis that answers."""

        def counted(redis: Redis) -> dict[str, int]:
            found = Counter[str]()
            for key in redis.scan_iter(f"{PREFIX}*", count=_KEYS_AT_ONCE):
                found[key.decode().removeprefix(PREFIX).partition(":")[0]] += 1
            return dict(found)

        return None if self.redis is None else self.redis.attempt(counted, _PATIENCE_SECONDS)

    def clear_blocking(self, kinds: Iterable[Kind]) -> bool:
        """Drop what is kept of these kinds; False where a Redis is set and does not answer."""

        def delete(redis: Redis) -> bool:
            for kind in kinds:
                keys = redis.scan_iter(f"{PREFIX}{kind.name}:*", count=_KEYS_AT_ONCE)
                while some := [*islice(keys, _KEYS_AT_ONCE)]:
                    redis.delete(*some)
            return True

        self._memories.clear()
        return self.redis is None or self.redis.attempt(delete, _PATIENCE_SECONDS) is not None

    def close(self) -> None:
        """Drop what is in memory and let go of the connections; it begins anew when it is used."""
        self._memories.clear()
        if self._cleaner is not None:
            self._cleaner.cancel()
        if self.redis is not None:
            self.redis.close()


_Found = tuple[bytes, float]


def _with_time(name: str, redis: Redis) -> _Found | None:
    """What is kept there, and the seconds that it has left."""
    found: Any = redis.get(name)
    label = _label(name)
    if not isinstance(found, bytes) or not found.startswith(label):
        return None
    left: Any = redis.pttl(name)
    return found.removeprefix(label), left / 1000


def _sent(kind: Kind, key: str, value: bytes, part: float) -> Callable[[Redis], object]:
    """Keep a value in Redis for a part of its time."""
    name = _name(kind, key)
    milliseconds = max(1, round(kind.redis_seconds * part * 1000))
    return lambda redis: redis.set(name, _label(name) + value, px=milliseconds)


def _name(kind: Kind, key: str) -> str:
    return f"{PREFIX}{kind.name}:{key}"


def _label(name: str) -> bytes:
    """What a value in Redis begins with: whose it is, should it ever come in another's place."""
    return name.encode() + b"\n"
