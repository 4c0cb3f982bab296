"""Wait for sources, and charge each with its own time alone.

A source that blocks the event loop takes the time of all others. Each step of a source is timed,
and the others' time limits and the deadline are extended by the steps that held the loop: the
deadline by all long ones, and by short ones to a limit. So are they by a long stall in which this
process computed, as a call in a thread that keeps the interpreter's lock makes it. The stalls of a
busy machine, and short ones, extend the deadline by half at most: the caller waits, too.

A late source failed only if it was the source's fault. It was not where the process waited for a
processor for a quarter of the time (Linux tells it), or where most of at least three sources were
late at the same moment: a busy machine, a cold start, and a busy store make all of them late.
A source that computed for half of its time limit was given its time in any case.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import math
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from attrs import define, field

from contextkit.errors import SourceError, in_words
from contextkit.plugin.interrupts import is_interrupt
from contextkit.plugin.times import BLOCK_SECONDS, HookTimes, Starvation, computed_by

T = TypeVar("T")

_STOPPING_SECONDS = 0.01
"""How long a cancelled source may take to end before it is left behind."""

_LONGEST_TICK = 0.05
_LATE_TICK = 0.01
"""A timer is later than this where threads compete for the interpreter's lock or a processor."""

_MOST_SHORT_SECONDS = 0.25
"""The deadline is extended by so much at most for steps that held the loop for a short time, or
by as much as for long ones."""

_LEAST_ASKED = 3
_QUERY = "contextkit_query"

_left_behind: set[asyncio.Task[Any]] = set()
"""Tasks that do not end; the loop itself would forget them."""


@define(eq=False)
class Steps:
    """Awaits a source's coroutine, and times each step that it makes in the loop.

    Attributes:
        source: the source.
        times: gets the times.
        stopped: whether the next cancellation closes the coroutine, so that it cannot ignore it.
    """

    source: str
    times: HookTimes
    stopped: bool = False

    def run(self, awaitable: Awaitable[T]) -> Awaitable[T]:
        """Return an awaitable of the same result."""
        return _Run(self, _coroutine(awaitable))

    def drive(self, coroutine: Any) -> Generator[Any, Any, Any]:
        """Run a coroutine step by step."""
        step, argument = coroutine.send, None
        while True:
            began = self.times.begin()
            try:
                wanted = step(argument)
            except StopIteration as ended:
                return ended.value
            except (KeyboardInterrupt, GeneratorExit) as error:
                if is_interrupt(error):
                    raise
                # What would end the host's loop is the source's own failure.
                raise SourceError(self.source, _QUERY, in_words(error)) from error
            finally:
                self.times.add(self.source, _QUERY, began)
            try:
                argument = yield wanted
                step = coroutine.send
            except BaseException as error:
                if self.stopped or isinstance(error, GeneratorExit):
                    with contextlib.suppress(RuntimeError):
                        coroutine.close()
                    raise
                step, argument = coroutine.throw, error


@define(eq=False)
class _Run:
    steps: Steps
    coroutine: Any

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.steps.drive(self.coroutine)


async def _coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable


@define(eq=False)
class Asking(Generic[T]):
    """A source that is being asked.

    Attributes:
        source: its name.
        timeout: seconds that it may take.
        times: the times of all sources' steps.
        steps: runs the source's coroutine.
        is_last: whether it waits for the others.
        asked: whether the source itself was asked, not a cache.
        late: whether its time was over.
    """

    source: str
    timeout: float
    times: HookTimes
    is_last: bool = False
    steps: Steps = field(init=False)
    asked: bool = field(default=False, init=False)
    late: bool = field(default=False, init=False)
    task: asyncio.Task[T] = field(init=False)
    _cpu: float = field(default=0.0, init=False)
    _thread: tuple[int, float] | None = field(default=None, init=False)
    _started: float | None = field(default=None, init=False)
    _credit: float = field(default=0.0, init=False)
    _own: float = field(default=0.0, init=False)
    _late_at: float = field(default=0.0, init=False)

    @steps.default
    def _make_steps(self) -> Steps:
        return Steps(self.source, self.times)

    @property
    def computed(self) -> float:
        """Seconds of processor time that it took, as far as the system tells it."""
        return self.computed_in_thread + self.times.held_by(self.source) - self._own

    @property
    def computed_in_thread(self) -> float:
        """Those that it took in a thread until it ended, or until now."""
        if self._thread is None:
            return self._cpu
        thread, before = self._thread
        return max(0.0, computed_by(thread) - before)

    @property
    def is_heavy(self) -> bool:
        """Whether it computed in a thread for longer than its time limit."""
        return self.computed_in_thread >= self.timeout

    @contextlib.contextmanager
    def in_thread(self) -> Iterator[None]:
        """Measure what it computes in this thread, which others use before and after it."""
        before = time.thread_time()
        self._thread = threading.get_native_id(), before
        try:
            yield
        finally:
            self._cpu, self._thread = time.thread_time() - before, None

    def begin(self, credit: float) -> None:
        """Start its time."""
        self._started, self._credit = time.monotonic(), credit
        self._own = self.times.held_by(self.source)

    def left(self, now: float, credit: float) -> float:
        """Seconds until it is late or, then, until it is left behind."""
        if self.late:
            return self._late_at + _STOPPING_SECONDS - now
        if self._started is None:
            return math.inf
        stolen = credit - self._credit - (self.times.held_by(self.source) - self._own)
        return self._started + self.timeout + stolen - now

    def expire(self, now: float) -> None:
        """Cancel it: its time is over."""
        self.late, self._late_at = True, now
        self.task.cancel()

    def leave(self) -> None:
        """Cancel it for good, and do not wait for it."""
        self.steps.stopped = True
        self.task.cancel()
        _left_behind.add(self.task)
        self.task.add_done_callback(_forget)


def _forget(task: asyncio.Task[Any]) -> None:
    _left_behind.discard(task)
    if not task.cancelled():
        task.exception()


_latest: contextvars.ContextVar[float] = contextvars.ContextVar("latest", default=math.inf)


@contextlib.contextmanager
def ending_by(moment: float) -> Iterator[None]:
    """Stop waiting for sources at a moment, even if the loop was held.

    Args:
        moment: the time, by `time.monotonic`.
    """
    token = _latest.set(moment)
    try:
        yield
    finally:
        _latest.reset(token)


@define(eq=False)
class Waiting(Generic[T]):
    """Waits for sources until all have answered, are late, or the deadline is over.

    Attributes:
        deadline: seconds for all of them together.
        times: the times of their steps.
    """

    deadline: float
    times: HookTimes
    _askings: list[Asking[T]] = field(factory=list, init=False)
    _running: set[Asking[T]] = field(factory=set, init=False)
    _started: float = field(factory=time.monotonic, init=False)
    _before: tuple[float, float] = field(init=False)
    _stalled: float = field(default=0.0, init=False)
    _due: float = field(default=0.0, init=False)
    _starved: float = field(default=0.0, init=False)
    _held_then: float = field(default=0.0, init=False)
    _computed_then: float = field(default=0.0, init=False)
    _starvation: Starvation | None = field(default=None, init=False)
    _others: asyncio.Event = field(factory=asyncio.Event, init=False)
    _done: asyncio.Future[None] = field(init=False)
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)

    @_before.default
    def _held_before(self) -> tuple[float, float]:
        return self.times.held, self.times.blocked

    @_done.default
    def _make_done(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    @property
    def credit(self) -> float:
        """Seconds in which the loop was held."""
        return self.times.held - self._before[0] + self._stalled

    @property
    def _over(self) -> float:
        """The time at which the deadline is over."""
        blocked = self.times.blocked - self._before[1] + self._stalled
        short = min(self.credit - blocked, max(_MOST_SHORT_SECONDS, blocked))
        return min(self._started + self.deadline + blocked + short, _latest.get())

    def start(
        self, source: str, timeout: float, ask: Callable[[Asking[T]], Any], *, is_last: bool = False
    ) -> Asking[T]:
        """Start to ask a source."""
        asking = Asking[T](source, timeout, self.times, is_last)
        asking.task = asyncio.create_task(ask(asking))
        self._askings.append(asking)
        self._running.add(asking)
        asking.task.add_done_callback(lambda _: self._end(asking))
        return asking

    async def wait(self) -> None:
        """Wait. All tasks have then ended, or are cancelled."""
        self._schedule(time.monotonic())
        if all(each.is_last for each in self._running):
            self._others.set()
        try:
            await self._done
        finally:
            if self._timer is not None:
                self._timer.cancel()
            await self._stop()
        self._find_stall()

    async def turn_of(self, asking: Asking[T]) -> None:
        """Let a source that is last wait for the others, for half of the deadline at most."""
        if asking.is_last:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._others.wait(), self.deadline / 2)

    def _end(self, asking: Asking[T]) -> None:
        self._running.discard(asking)
        if all(each.is_last for each in self._running):
            self._others.set()
        if not self._running and not self._done.done():
            self._done.set_result(None)

    def _schedule(self, now: float) -> None:
        credit = self.credit
        left = [asking.left(now, credit) for asking in self._running]
        left.append(self._over - now)
        # Half of the shortest time limit is when the starvation of late sources is looked at.
        soon = min(left) / (2 if self._starvation is None else 1)
        seconds = min(max(soon, 0.001), _LONGEST_TICK)
        self._due, self._held_then = now + seconds, self.times.held
        self._computed_then = time.process_time()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._tick)

    def _tick(self) -> None:
        now = time.monotonic()
        stall = now - self._due - (self.times.held - self._held_then)
        if stall >= _LATE_TICK:
            computed = time.process_time() - self._computed_then >= stall / 2
            # Where this process did not compute meanwhile, the machine is busy, and stays so. A
            # short stall says little of the cause.
            is_own = computed and stall >= BLOCK_SECONDS
            most = math.inf if is_own else max(0.0, self.deadline / 2 - self._starved)
            self._stalled += min(stall, most)
            self._starved += 0.0 if is_own else min(stall, most)
        credit = self.credit
        for asking in list(self._running):
            left = asking.left(now, credit)
            if left <= asking.timeout / 2 and self._starvation is None:
                self._starvation = Starvation()
            if left > 0:
                continue
            if asking.late:
                asking.leave()
                self._end(asking)
            else:
                asking.expire(now)
        if now >= self._over and not self._done.done():
            self._done.set_result(None)
        if not self._done.done():
            self._schedule(now)

    async def _stop(self) -> None:
        running = [asking for asking in self._running if asking.task.cancel()]
        if not running:
            return
        tasks = [asking.task for asking in running]
        _, unended = await asyncio.wait(tasks, timeout=_STOPPING_SECONDS)
        for asking in running:
            if asking.task in unended:
                asking.leave()

    def _find_stall(self) -> None:
        """Charge a stall to the source whose thread computed for most of it.

        A call that keeps the interpreter's lock stops the loop from within a thread.
        """
        for asking in self._askings:
            computed = asking.computed_in_thread if self._stalled else 0.0
            if computed >= self._stalled / 2 > 0:
                self.times.charge(asking.source, _QUERY, computed)

    def excuse(self, late: Sequence[Asking[T]]) -> Callable[[Asking[T]], str | None]:
        """Return what says why a source's lateness does not count, or None where it does."""
        reason = self._shared_reason(late)
        return lambda asking: None if asking.computed >= asking.timeout / 2 else reason

    def _shared_reason(self, late: Iterable[Asking[T]]) -> str | None:
        asked = {asking.source for asking in self._askings if asking.asked}
        if are_late_together(asked, {each.source for each in late}):
            return "most sources were late at once"
        if self._starvation is not None and self._starvation.is_bad:
            return "the machine was busy"
        return None


def are_late_together(asked: Collection[str], late: Collection[str]) -> bool:
    """Check whether so many of the asked sources were late that it is not their fault."""
    return len(asked) >= _LEAST_ASKED and 2 * len(late) > len(asked)


def ended(asking: Asking[T]) -> bool:
    """Check whether a source's task has ended by itself."""
    return asking.task.done() and not asking.task.cancelled()
