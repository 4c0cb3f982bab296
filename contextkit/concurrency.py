"""Threads beside the event loop, locks that survive a fork, and circuit breakers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import os
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterator
from types import TracebackType
from typing import Any, Literal, TypeVar

from attrs import define, field

__all__ = ["Breaker", "ForkLock", "in_loop", "in_thread"]

T = TypeVar("T")


async def in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread of its own that nobody waits for at exit.

    The event loop's own executor joins its threads when the loop closes, so that one
    source that hangs would hang the whole program.

    Raises what the call raises; `SystemExit` and the like as a `RuntimeError`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    home = _Home(loop)
    context.run(_home.set, home)

    def deliver(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        try:
            outcome: Any = context.run(call)
            setter: Callable[[Any], None] = future.set_result
        except BaseException as error:  # noqa: BLE001 - SystemExit in a thread is a failure too
            outcome, setter = _as_exception(error), future.set_exception
        # Where the loop has closed meanwhile, nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, setter, outcome)

    threading.Thread(target=run, name="contextkit-source", daemon=True).start()
    try:
        return await future
    finally:
        home.leave()


def in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the event loop that started this thread, and wait for its result.

    The coroutine is cancelled when nobody waits for the thread any more.

    Raises:
        RuntimeError: in a thread that `in_thread` did not start, or in an event loop's own.
    """
    home = _home.get(None)
    if home is None or _runs_a_loop():
        coroutine.close()
        raise RuntimeError("this is no thread that an event loop has started and waits for")
    return home.run(coroutine)


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@define(eq=False)
class _Home:
    """The event loop that started a thread, for as long as somebody there waits for it."""

    loop: asyncio.AbstractEventLoop
    _running: set[concurrent.futures.Future[Any]] = field(factory=set, init=False)
    _left: bool = field(default=False, init=False)
    _turn: threading.Lock = field(factory=threading.Lock, init=False)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._turn:
            if self._left:
                coroutine.close()
                raise concurrent.futures.CancelledError
            future = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
            self._running.add(future)
        return future.result()

    def leave(self) -> None:
        with self._turn:
            self._left = True
        for future in self._running:
            future.cancel()


_home: contextvars.ContextVar[_Home] = contextvars.ContextVar("contextkit_home")


def _as_exception(error: BaseException) -> Exception:
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")


class ForkLock:
    """A lock for `with`; a forked child has a fresh one.

    The thread that held it when the process forked does not exist in the child, and would
    never let go of it there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _living.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Be a lock that nobody holds."""
        self._lock = threading.Lock()


_living: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _living:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


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
