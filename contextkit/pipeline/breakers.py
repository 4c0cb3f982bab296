"""One circuit breaker for each source, and the sources' health."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from attrs import define, field, frozen

from contextkit.concurrency import Breaker, BreakerState


@frozen(kw_only=True)
class SourceHealth:
    """How a source fared in the requests of one kit, which its breaker remembers.

    Attributes:
        source: its name.
        state: `closed`: it is queried; `open`: it is skipped for a while, as it failed too
            often; `half_open`: the next request asks it, as a probe.
        failures: how often it failed in a row; 0 after an answer.
        reason: its last failure; None where there was none since its last answer.
        seconds: until a probe is let through, 0.0 in `half_open`; None in `closed`.
    """

    source: str
    state: BreakerState
    failures: int = 0
    reason: str | None = None
    seconds: float | None = None

    @property
    def words(self) -> str | None:
        """A sentence on a source that is not asked for now; None for any other."""
        if self.seconds is None:
            return None
        so_long = f"for {math.ceil(self.seconds)} s" if self.seconds else "until the next request"
        return f"skipped {so_long}: {self.reason or 'it failed too often'}"


@define(eq=False)
class Breakers:
    """The breakers of the sources that one pipeline asks; each is made when it is needed.

    Attributes:
        failures_to_open: failures in a row that open one.
        cooldown: seconds for which an open one lets nothing through.
        clock: seconds that only grow.
    """

    failures_to_open: int = 3
    cooldown: float = 30.0
    clock: Callable[[], float] = time.monotonic
    _of: dict[str, Breaker] = field(factory=dict, init=False)

    def of(self, source: str) -> Breaker:
        """A source's breaker."""
        if source not in self._of:
            self._of[source] = Breaker(self.failures_to_open, self.cooldown, self.clock)
        return self._of[source]

    def health(self, source: str) -> SourceHealth:
        """What a source's breaker tells; a source that was never asked is a healthy one."""
        breaker = self.of(source)
        return SourceHealth(
            source=source,
            state=breaker.state,
            failures=breaker.failures,
            reason=breaker.reason,
            seconds=breaker.seconds_to_probe,
        )
