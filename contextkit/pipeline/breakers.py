"""Circuit breakers of the sources, and the sources' health.

A source fails by an error or by being late. Lateness counts only if the process gave the source
its time: see `contextkit.pipeline.waiting`. A plugin whose hooks held the event loop is skipped
from the next assembly on, because its time was everyone's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field, frozen

from contextkit.concurrency import Breaker, BreakerState
from contextkit.logs import get_logger
from contextkit.plugin.times import NEVER_SKIPPED, HookTimes, timing

_SKIPPED_TIMES = 20
"""A plugin is skipped so many times as long as it held the others, so that it takes a twentieth
of their time at most."""

_log = get_logger(__name__)


@frozen(kw_only=True)
class SourceHealth:
    """A source's health in one kit's requests, from its breaker.

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
        """Describe an open breaker in a sentence.

        Returns None for a source that is queried.
        """
        if self.seconds is None:
            return None
        so_long = f"for {math.ceil(self.seconds)} s" if self.seconds else "until the next request"
        return f"skipped {so_long}: {self.reason or 'it failed too often'}"


@define(eq=False)
class Breakers:
    """The circuit breakers of one pipeline's sources, created on demand.

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
        """Return a source's breaker."""
        if source not in self._of:
            self._of[source] = Breaker(self.failures_to_open, self.cooldown, self.clock)
        return self._of[source]

    @contextmanager
    def timed(self) -> Iterator[HookTimes]:
        """Time the hooks of an assembly, and skip slow plugins from the next one on.

        A plugin that was skipped and was quick again is no longer skipped.
        """
        opened = {name: breaker for name, breaker in self._of.items() if breaker.slow_hook}
        skipped = {
            name: str(breaker.reason) for name, breaker in opened.items() if breaker.state == "open"
        }
        times = HookTimes(skipped)
        try:
            with timing(times):
                yield times
        finally:
            slow = times.slow()
            names = {each.plugin for each in slow if each.hook != NEVER_SKIPPED}
            for name, breaker in opened.items():
                if name not in names and breaker.slow_hook and times.timed(name, breaker.slow_hook):
                    breaker.succeeded()
            for each in slow:
                breaker = self.of(each.plugin)
                if each.hook != NEVER_SKIPPED:
                    breaker.skip(each.hook, each.reason, _SKIPPED_TIMES * each.seconds)
                _log.warning(
                    "plugin_slow",
                    source=each.plugin,
                    hook=each.hook,
                    seconds=round(each.seconds, 3),
                    skipped_for=round(breaker.seconds_to_probe or 0.0),
                )

    def health(self, source: str) -> SourceHealth:
        """Return a source's health from its breaker.

        A source that was never queried counts as healthy.
        """
        breaker = self.of(source)
        return SourceHealth(
            source=source,
            state=breaker.state,
            failures=breaker.failures,
            reason=breaker.reason,
            seconds=breaker.seconds_to_probe,
        )
