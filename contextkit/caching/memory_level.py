"""Cached values in this process' memory."""

from __future__ import annotations

import time
from collections import OrderedDict

from attrs import define, field

from contextkit.fork_locks import ForkLock

__all__ = ["MemoryLevel"]


@define(eq=False)
class MemoryLevel:
    """The values that were used last, each for its time; for any thread.

    Attributes:
        size: values at most.
    """

    size: int
    _kept: OrderedDict[str, tuple[float, bytes]] = field(factory=OrderedDict, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def get(self, name: str) -> bytes | None:
        """What is kept under that name, or None."""
        with self._turn:
            ends, value = self._kept.get(name, (0.0, None))
            if value is None:
                return None
            if ends <= time.monotonic():
                del self._kept[name]
                return None
            self._kept.move_to_end(name)
            return value

    def keep(self, name: str, value: bytes, seconds: float) -> None:
        """Keep a value for some seconds; beyond `size` the one goes that was used longest ago."""
        with self._turn:
            self._kept[name] = time.monotonic() + seconds, value
            self._kept.move_to_end(name)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
