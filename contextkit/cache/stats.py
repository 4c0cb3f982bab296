"""How often a cache had what was asked for."""

from __future__ import annotations

from attrs import define, field, frozen

from contextkit.concurrency import ForkLock


@frozen
class CacheStats:
    """What one cache of this process was asked for.

    Attributes:
        hits: values that it had.
        misses: values that were made.
        passed_over: requests of which nothing may be kept.
    """

    hits: int = 0
    misses: int = 0
    passed_over: int = 0

    @property
    def hit_ratio(self) -> float:
        """The part of all requests that were hits, 0..1; 0 without any."""
        asked = self.hits + self.misses + self.passed_over
        return self.hits / asked if asked else 0.0


@define(eq=False)
class Counting:
    """Counts for `CacheStats`, from any thread."""

    _hits: int = field(default=0, init=False)
    _misses: int = field(default=0, init=False)
    _passed_over: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def hit(self) -> None:
        """Count a value that was there."""
        with self._turn:
            self._hits += 1

    def missed(self) -> None:
        """Count a value that was made."""
        with self._turn:
            self._misses += 1

    def passed_over(self) -> None:
        """Count a request of which nothing may be kept."""
        with self._turn:
            self._passed_over += 1

    @property
    def so_far(self) -> CacheStats:
        """The counts."""
        with self._turn:
            return CacheStats(self._hits, self._misses, self._passed_over)
