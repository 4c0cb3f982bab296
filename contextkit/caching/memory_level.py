"""Cached values in this process' memory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from attrs import define, field

from contextkit.fork_locks import ForkLock

if TYPE_CHECKING:
    from cachetools import TLRUCache

__all__ = ["MemoryLevel"]


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
