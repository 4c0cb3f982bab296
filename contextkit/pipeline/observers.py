"""Call observers: plugins that receive each finished context."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections import deque

from attrs import define, evolve, field

from contextkit.concurrency import ForkLock
from contextkit.models.context import FormattedContext
from contextkit.plugin.checks import log_failure
from contextkit.plugin.manager import SourceRegistry

HOOK = "contextkit_assembled"

_MOST_WAITING = 100
"""Contexts that wait for an observer; one that is slower than that misses some."""

_EXIT_SECONDS = 2.0
"""How long a process that ends waits for its observers."""


@define(eq=False)
class Observers:
    """Calls each observer in its own thread, context by context.

    Attributes:
        registry: calls the hooks.
    """

    registry: SourceRegistry
    _waiting: dict[str, deque[FormattedContext]] = field(factory=dict, init=False)
    _threads: dict[str, threading.Thread] = field(factory=dict, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    def notify(self, context: FormattedContext) -> FormattedContext:
        """Pass a context to the observers; return it at once."""
        for plugin in self.registry.on_with(HOOK):
            # Observers get copies of the lists, which they may change.
            seen = evolve(
                context,
                items=list(context.items),
                sources_used=dict(context.sources_used),
                truncated_items=list(context.truncated_items),
            )
            if not self._queued(plugin, seen):
                reason = f"a context was left out: {_MOST_WAITING} are waiting for it"
                log_failure(plugin, HOOK, reason)
        return context

    def _queued(self, plugin: str, context: FormattedContext) -> bool:
        with self._turn:
            waiting = self._waiting.setdefault(plugin, deque())
            if len(waiting) >= _MOST_WAITING:
                return False
            waiting.append(context)
            running = self._threads.get(plugin)
            # A forked child process does not run its parent's threads.
            if running is None or not running.is_alive():
                name = f"contextkit-observer-{plugin}"
                thread = threading.Thread(target=self._run, args=[plugin], name=name, daemon=True)
                self._threads[plugin] = thread
                _active.add(self)
                thread.start()
        return True

    def _run(self, plugin: str) -> None:
        while True:
            with self._turn:
                if not self._waiting[plugin]:
                    del self._threads[plugin]
                    return
                context = self._waiting[plugin].popleft()
            self.registry.attempt(plugin, HOOK, lambda _: None, context=context)

    def wait(self, seconds: float) -> None:
        """Wait until observers have received all contexts, or time out."""
        until = time.monotonic() + seconds
        for thread in list(self._threads.values()):
            thread.join(max(0.0, until - time.monotonic()))


_active: weakref.WeakSet[Observers] = weakref.WeakSet()


@atexit.register
def _wait_at_exit() -> None:
    until = time.monotonic() + _EXIT_SECONDS
    for observers in list(_active):
        observers.wait(max(0.0, until - time.monotonic()))
