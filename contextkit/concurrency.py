"""Threads beside the event loop, fork-safe locks, and circuit breakers."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import importlib
import os
import queue
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Iterable, Iterator
from types import TracebackType
from typing import Any, Literal, TypeVar

from attrs import define, field

__all__ = ["Breaker", "ForkLock", "in_loop", "in_thread"]

T = TypeVar("T")

BreakerState = Literal["closed", "open", "half_open"]


async def in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread that runs nothing else meanwhile.

    The event loop's own executor joins its threads when the loop closes, so that one hanging
    source would hang the whole program. It also has a limited number of threads.

    Raises what the call raises; `SystemExit` and the like as a `RuntimeError`.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    outer = _home.get(None)
    home = _Home(loop, outer.began if outer else time.perf_counter())
    context.run(_home.set, home)

    def deliver(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> Callable[[], None]:
        try:
            outcome: Any = context.run(call)
            setter: Callable[[Any], None] = future.set_result
        except BaseException as error:  # noqa: BLE001 - SystemExit in a thread is a failure too
            outcome, setter = _as_exception(error), future.set_exception

        def tell() -> None:
            # If the loop was closed meanwhile, the result is no longer needed.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(deliver, setter, outcome)

        return tell

    _start(run)
    try:
        return await future
    finally:
        home.leave()


_IDLE_SECONDS = 10.0

_Work = Callable[[], Callable[[], None]]
"""Work that does not raise. It returns the call that tells its end."""

_idle: list[queue.SimpleQueue[_Work]] = []
"""The queues of threads without work. Adding to the list and taking from it are single steps."""


def _start(work: _Work) -> None:
    """Run work in an idle thread, or in a new one.

    On a busy machine a new thread takes milliseconds to begin, and its starter waits for it.
    """
    try:
        _idle.pop().put(work)
    except IndexError:
        name = "contextkit-source"
        threading.Thread(target=_work_on, args=(work,), name=name, daemon=True).start()


def _work_on(work: _Work) -> None:
    own: queue.SimpleQueue[_Work] = queue.SimpleQueue()
    while True:
        tell = work()
        # Idle before its work is known to be done, so that the next call finds it.
        _idle.append(own)
        tell()
        del work, tell
        try:
            work = own.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            try:
                _idle.remove(own)
            except ValueError:
                # Another thread has just taken it, and puts its work there.
                work = own.get()
            else:
                return


def one_ahead(calls: Iterable[Callable[[], T]]) -> Iterator[T]:
    """Yield the results of blocking calls, each made in a thread while the one before is used.

    Raises what a call raises, in its place.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "contextkit-ahead") as thread:
        coming: concurrent.futures.Future[T] | None = None
        for call in calls:
            before, coming = coming, thread.submit(contextvars.copy_context().run, call)
            if before is not None:
                yield before.result()
        if coming is not None:
            yield coming.result()


def import_beside(module: str) -> None:
    """Import a module that is needed soon, while this thread waits for others.

    The code that uses the module raises the errors of its import.
    """

    def run() -> None:
        with contextlib.suppress(Exception):
            importlib.import_module(module)

    threading.Thread(target=run, name="contextkit-import", daemon=True).start()


def in_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in this thread's event loop.

    The coroutine is cancelled when the loop no longer waits for the thread.

    Raises:
        RuntimeError: `in_thread` did not start this thread, or it runs an event loop.
    """
    home = _home.get(None)
    if home is None or _runs_a_loop():
        coroutine.close()
        raise RuntimeError("expected a thread started by `in_thread`, with the loop waiting for it")
    return home.run(coroutine)


def began_before(moment: float) -> bool:
    """Check whether this thread's work was given to `in_thread` before a moment.

    Args:
        moment: the time, by `time.perf_counter`.
    """
    home = _home.get(None)
    return home is not None and home.began < moment


def _runs_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@define(eq=False)
class _Home:
    """The event loop that started a thread and awaits it, and when its work began."""

    loop: asyncio.AbstractEventLoop
    began: float
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
    """A lock that is always free in a forked child.

    The thread that held it at the fork does not exist in the child, and would never release it.
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
        """Replace the lock by a free one."""
        self._lock = threading.Lock()


_living: weakref.WeakSet[ForkLock] = weakref.WeakSet()


def _renew_all() -> None:
    # The threads of the parent process do not exist in the child.
    _idle.clear()
    for lock in _living:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


@define(eq=False)
class Breaker:
    """Opens after several failures in a row.

    After a cool-down it lets one probe through.

    Attributes:
        failures_to_open: failures in a row that open it.
        cooldown: seconds for which an open breaker lets no request through.
        clock: a monotonic clock in seconds.
        most_running: maximum number of unfinished calls in threads. A thread cannot be stopped,
            and if every probe hung, a long-running process would accumulate threads.
        failures: the current number of failures in a row.
        reason: the last failure since the last success, or None.
        slow_hook: the hook for which `skip` opened it, or None.
        is_heavy: whether its last call computed for longer than its time limit.
    """

    failures_to_open: int = 3
    cooldown: float = 30.0
    clock: Callable[[], float] = time.monotonic
    most_running: int = 200
    failures: int = field(default=0, init=False)
    reason: str | None = field(default=None, init=False)
    slow_hook: str | None = field(default=None, init=False)
    is_heavy: bool = field(default=False, init=False)
    _open_seconds: float = field(default=0.0, init=False)
    _failed_at: float | None = field(default=None, init=False)
    _opened_at: float | None = field(default=None, init=False)
    _probing: bool = field(default=False, init=False)
    _running: dict[object, float] = field(factory=dict, init=False)
    _turn: ForkLock = field(factory=ForkLock, init=False)

    @contextlib.contextmanager
    def call(self) -> Iterator[None]:
        """Count a call as running until its thread ends."""
        key = object()
        with self._turn:
            self._running[key] = self.clock()
        try:
            yield
        finally:
            with self._turn:
                del self._running[key]

    @property
    def is_full(self) -> bool:
        """Whether the maximum number of unfinished calls is reached."""
        return len(self._running) >= self.most_running

    def stuck_for(self, seconds: float) -> float | None:
        """Return how long a call has been running, if longer than some seconds.

        Calls older than the cool-down do not count: another one may be tried.
        """
        now = self.clock()
        with self._turn:
            ages = [now - began for began in self._running.values()]
        return max((age for age in ages if seconds < age < self.cooldown), default=None)

    @property
    def state(self) -> BreakerState:
        """`closed`: requests pass.

        `open`: they do not; `half_open`: the next is a probe.
        """
        if self._opened_at is None:
            return "closed"
        return "half_open" if not self.seconds_to_probe else "open"

    @property
    def seconds_to_probe(self) -> float | None:
        """Seconds until a probe may pass, or None if closed."""
        if self._opened_at is None:
            return None
        return max(0.0, self._opened_at + self._open_seconds - self.clock())

    def allows(self) -> bool:
        """Whether a request may be made now.

        In `half_open` only one request may.
        """
        if self.state == "half_open" and not self._probing:
            self._probing = True
            return True
        return self.state == "closed"

    def succeeded(self) -> None:
        """Record a success, which closes the breaker."""
        self.failures, self.reason, self.slow_hook = 0, None, None
        self._opened_at, self._probing = None, False

    def failed(self, asked_at: float | None = None, reason: str | None = None) -> None:
        """Record a failure.

        Enough in a row, or a failed probe, open the breaker.

        Concurrent failures count as one: a stall of the whole process must not open the breaker
        of a source, however many requests were waiting.

        Args:
            asked_at: the clock's time at the request; default: now.
            reason: the error message.
        """
        now = self.clock()
        if asked_at is not None and self._failed_at is not None and asked_at < self._failed_at:
            return
        self._failed_at, self.reason = now, reason
        self.failures += 1
        if self.failures >= self.failures_to_open:
            self._open(now, self.cooldown)

    def skip(self, hook: str, reason: str, seconds: float) -> None:
        """Open at once, because a hook held the event loop.

        Args:
            hook: the hook.
            reason: why, for people.
            seconds: how long to let no request through.
        """
        now = self.clock()
        self._failed_at, self.reason, self.slow_hook = now, reason, hook
        self.failures += 1
        self._open(now, seconds)

    def _open(self, now: float, seconds: float) -> None:
        self._opened_at, self._open_seconds, self._probing = now, seconds, False

    def abandoned(self) -> None:
        """Record that a request was cancelled."""
        self._probing = False
