"""Cache statistics."""

from __future__ import annotations

from attrs import define, field, frozen

from contextkit.concurrency import ForkLock


@frozen
class CacheStats:
    """Statistics of one cache in this process.

    Attributes:
        hits: the number of values found.
        misses: the number of values that had to be computed.
        uncacheable: the number of requests that cannot be cached.
    """

    hits: int = 0
    misses: int = 0
    uncacheable: int = 0

    @property
    def hit_ratio(self) -> float:
        """The share of hits in all requests, 0..1.

        0 without requests.
        """
        asked = self.hits + self.misses + self.uncacheable
        return self.hits / asked if asked else 0.0


@define(eq=False)
class Counting:
    """Counts for `CacheStats`, from any thread."""

    _hits: int = field(default=0, init=False)
    _misses: int = field(default=0, init=False)
    _uncacheable: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def hit(self) -> None:
        """Count a value that was found."""
        with self._turn:
            self._hits += 1

    def missed(self) -> None:
        """Count a value that had to be computed."""
        with self._turn:
            self._misses += 1

    def uncacheable(self) -> None:
        """Count a request that cannot be cached."""
        with self._turn:
            self._uncacheable += 1

    @property
    def so_far(self) -> CacheStats:
        """The current counts."""
        with self._turn:
            return CacheStats(self._hits, self._misses, self._uncacheable)
