"""A circuit breaker: a source that keeps failing is left alone for a while."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Literal

from attrs import define, field

from contextkit.fork_locks import ForkLock

__all__ = ["Breaker", "BreakerState"]

BreakerState = Literal["closed", "open", "half_open"]


@define(eq=False)
class Breaker:
    """Opens after some failures in a row, and lets one probe through after a cooldown.

    Attributes:
        failures_to_open: failures in a row that open it.
        cooldown: seconds for which an open one lets nothing through.
        clock: seconds that only grow.
        most_running: calls in threads that may not have ended: a thread cannot be stopped, and
            one that hangs with every probe would be too many for a process that runs for days.
        failures: how many there were in a row.
        reason: the last one's, in words; None where there is none since the last answer.
    """

    failures_to_open: int = 3
    cooldown: float = 30.0
    clock: Callable[[], float] = time.monotonic
    most_running: int = 200
    failures: int = field(default=0, init=False)
    reason: str | None = field(default=None, init=False)
    _failed_at: float | None = field(default=None, init=False)
    _opened_at: float | None = field(default=None, init=False)
    _probing: bool = field(default=False, init=False)
    _running: int = field(default=0, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @contextlib.contextmanager
    def call(self) -> Iterator[None]:
        """Count a call in a thread for as long as it lasts, whether anybody waits or not."""
        with self._turn:
            self._running += 1
        try:
            yield
        finally:
            with self._turn:
                self._running -= 1

    @property
    def is_full(self) -> bool:
        """Whether so many calls have not ended that there must not be another one."""
        return self._running >= self.most_running

    @property
    def state(self) -> BreakerState:
        """`closed`: asked; `open`: not asked; `half_open`: the next request is a probe."""
        if self._opened_at is None:
            return "closed"
        return "half_open" if self.clock() - self._opened_at >= self.cooldown else "open"

    @property
    def seconds_to_probe(self) -> float | None:
        """Seconds until a probe is let through: 0.0 in `half_open`, None in `closed`."""
        if self._opened_at is None:
            return None
        return max(0.0, self._opened_at + self.cooldown - self.clock())

    def allows(self) -> bool:
        """Whether the source may be asked now; in `half_open` only the first asker may."""
        if self.state == "half_open" and not self._probing:
            self._probing = True
            return True
        return self.state == "closed"

    def succeeded(self) -> None:
        """Note an answer: the breaker closes."""
        self.failures, self.reason = 0, None
        self._opened_at, self._probing = None, False

    def failed(self, asked_at: float | None = None, reason: str | None = None) -> None:
        """Note a failure: enough of them in a row open it, and so does a failed probe.

        What failed side by side is one failure: a stall of the whole process does not make
        a source a broken one, however many were waiting for it.

        Args:
            asked_at: what the clock said when the source was asked; default: now.
            reason: what went wrong, in words.
        """
        now = self.clock()
        if asked_at is not None and self._failed_at is not None and asked_at < self._failed_at:
            return
        self._failed_at, self.reason = now, reason
        self.failures += 1
        if self.failures >= self.failures_to_open:
            self._opened_at, self._probing = now, False

    def abandoned(self) -> None:
        """Note that the asker went away before an answer: says nothing of the source."""
        self._probing = False
