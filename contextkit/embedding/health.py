"""Whether a dense model works: one that failed is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from attrs import define, field

from contextkit.breaker import Breaker
from contextkit.errors import ConfigError, ContextKitError, in_words
from contextkit.fork_locks import ForkLock
from contextkit.logs import get_logger

__all__ = ["COOLDOWN_SECONDS", "ModelHealth"]

COOLDOWN_SECONDS = 30.0
"""How long a model that failed is not asked again."""

_log = get_logger(__name__)


@define(eq=False)
class ModelHealth:
    """Takes note of a model's answers and failures, from any thread.

    Attributes:
        model: what messages call it.
        clock: seconds that only grow.
    """

    model: str
    clock: Callable[[], float] = time.monotonic
    _breaker: Breaker = field(init=False)
    _lock: ForkLock = field(factory=ForkLock, init=False)
    _reason: str | None = field(default=None, init=False)

    @_breaker.default
    def _make_breaker(self) -> Breaker:
        return Breaker(failures_to_open=1, cooldown=COOLDOWN_SECONDS, clock=self.clock)

    @property
    def problem(self) -> str | None:
        """What is wrong with it, in words, or None."""
        reason = self._reason
        if reason is None:
            return None
        return f"the embedding model '{self.model}' fails ({reason}): search uses keywords alone"

    def allows(self) -> bool:
        """Whether it may be asked now; after a failure only the first asker may, later."""
        with self._lock:
            return self._breaker.allows()

    def succeeded(self) -> None:
        """Note an answer."""
        with self._lock:
            self._breaker.succeeded()
            recovered, self._reason = self._reason is not None, None
        if recovered:
            _log.info("dense_model_recovered", model=self.model)

    def failed(self, reason: str) -> None:
        """Note a failure; it is logged once, until the model works again."""
        with self._lock:
            self._breaker.failed()
            first, self._reason = self._reason is None, reason
        if first:
            _log.warning("dense_model_failed", model=self.model, reason=reason, fallback="bm25")

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what becomes of asking it; whatever it raises ends here.

        But for an interrupt, and for a `ConfigError`: that is the user's to mend.
        """
        try:
            yield
        except (KeyboardInterrupt, ConfigError):
            with self._lock:
                self._breaker.abandoned()
            raise
        except BaseException as error:  # noqa: BLE001 - a plugin's model, a Rust panic included
            self.failed(str(error) if isinstance(error, ContextKitError) else in_words(error))
        else:
            self.succeeded()
