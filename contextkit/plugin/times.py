"""Time plugins' hooks that hold an assembly's event loop.

A hook that is not asynchronous, and a step of an asynchronous query, stop every other source while
they run. Python cannot interrupt them. They are timed instead, and the plugins that took too much
are skipped by later assemblies.
"""

from __future__ import annotations

import contextlib
import contextvars
import gc
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from attrs import define, field, frozen

ALLOWED_SECONDS = 0.25
"""How long all hooks together may hold one assembly.

The default time limit of one source is 0.3 s, and of all sources 0.5 s. The first-party hooks
take some milliseconds together.
"""

HOLD_SECONDS = 0.02
"""A shorter step delays the others no more than a busy machine does."""

NEVER_SKIPPED = "contextkit_redact"
"""A slow redactor delays each context, because skipping it would show its secrets."""

BLOCK_SECONDS = 0.25
"""A step that blocks the loop for so long may make every other source late."""

_STARVED_PART = 0.25
"""A process whose threads were ready and did not run for this part of a span is starved."""

_LEAST_STARVED_SECONDS = 0.05
"""Waking up takes some milliseconds on a busy machine, whatever a source does."""

_MOST_FOR_OTHERS = 1.0
"""For how many seconds other threads may keep a context's hooks waiting."""

_MOST_WAITING = 4.0
"""How many times as long as it ran another thread may have waited for a processor."""

_LOOK_SECONDS = HOLD_SECONDS / 2
"""How old the clocks may be that a step begins with."""

_LOOKS = 2
"""A thread looks after the interpreter's lock later than it should on a busy machine."""

_THREADS = Path("/proc/self/task")
_MOST_BYTES = 200
_FULL = 2


@frozen
class SlowHook:
    """A plugin's hook that took too long.

    It held the loop, or, if it is `late`, it did not end within its own time limit.
    """

    plugin: str
    hook: str
    seconds: float
    late: bool = False

    @property
    def reason(self) -> str:
        """Describe it as the reason to skip the plugin."""
        if self.late:
            return f"{self.hook} gave no answer within {self.seconds:.2g} s"
        return f"{self.hook} held the assembly for {self.seconds:.2g} s"


@frozen
class _Clocks:
    """What the system says of this thread, in seconds, since some time.

    Attributes:
        ran: for how long it ran.
        waited: for how long it was ready, but had no processor.
        slices: how often it got a processor.
        collected: for how long it ran full garbage collections.
        others: for how long the other threads ran.
    """

    ran: float
    waited: float
    slices: int
    collected: float
    others: float

    @classmethod
    def now(cls) -> _Clocks:
        _, waited, slices = _schedule_of("thread-self")
        ran = time.thread_time()
        collected = _collections.seconds.get(threading.get_ident(), 0.0)
        return cls(ran, waited, slices, collected, time.process_time() - ran)

    def since(self, before: _Clocks) -> _Clocks:
        return _Clocks(
            self.ran - before.ran,
            self.waited - before.waited,
            self.slices - before.slices,
            self.collected - before.collected,
            self.others - before.others,
        )

    @property
    def starved(self) -> float:
        """How long it waited for a processor for each second in which it ran."""
        return min(self.waited / self.ran, _MOST_WAITING) if self.ran > 0 else 0.0

    def caused(self, seconds: float, starved: float) -> float:
        """Return the seconds of a step that are its own.

        It may have waited for the interpreter's lock while other threads ran, or waited for a
        processor as often as this one did. A thread that waits for the lock looks after it once in
        each switch interval, and one that sleeps does not.

        Args:
            seconds: how long the step took.
            starved: `starved` of this thread in a longer time.
        """
        locked = self.others * (1 + starved)
        if self.slices:
            locked = min(locked, _LOOKS * self.slices * sys.getswitchinterval())
        slept = seconds - self.waited - self.collected - locked
        return max(0.0, min(seconds, max(slept, self.ran - self.collected)))


Began = tuple[float, int, _Clocks]
"""When a step began, how many modules were loaded, and what the system said shortly before."""


@define(eq=False)
class HookTimes:
    """The times of the hooks of one assembly.

    Attributes:
        skipped: plugins whose optional hooks are not called, and why. `NEVER_SKIPPED` is called.
        held: seconds of all steps that held the loop.
        blocked: seconds of those among them that blocked it for long.
    """

    skipped: Mapping[str, str] = field(factory=dict)
    held: float = field(default=0.0, init=False)
    blocked: float = field(default=0.0, init=False)
    _short: dict[str, dict[str, float]] = field(factory=lambda: defaultdict(dict), init=False)
    _long: dict[str, dict[str, float]] = field(factory=lambda: defaultdict(dict), init=False)
    _held_by: dict[str, float] = field(factory=lambda: defaultdict(float), init=False)
    _late: list[SlowHook] = field(factory=list, init=False)
    _thread: int = field(factory=threading.get_ident, init=False)
    _began: _Clocks = field(factory=_Clocks.now, init=False)
    _clocks: _Clocks = field(init=False)
    _looked: float = field(factory=time.perf_counter, init=False)

    @_clocks.default
    def _first_clocks(self) -> _Clocks:
        return self._began

    def begin(self) -> Began:
        """Take the clocks, before a call or step."""
        now = time.perf_counter()
        # The system is slow to tell; a long step is longer than this anyway.
        if now - self._looked >= _LOOK_SECONDS and threading.get_ident() == self._thread:
            self._clocks, self._looked = _Clocks.now(), now
        return now, len(sys.modules), self._clocks

    def add(self, plugin: str, hook: str, began: Began) -> None:
        """Add the time of a call or step that ends now, unless it ran in a thread of its own.

        A step that imported modules is a cold start: it is slow once, and does not count against
        the plugin.

        Args:
            plugin: the plugin.
            hook: its hook.
            began: what `begin` returned.
        """
        if threading.get_ident() != self._thread:
            return
        started, modules, before = began
        now = time.perf_counter()
        seconds = now - started
        short = self._short[plugin]
        short.setdefault(hook, 0.0)
        if seconds < HOLD_SECONDS:
            short[hook] += seconds
            return
        clocks = _Clocks.now()
        if len(sys.modules) == modules:
            starved = clocks.since(self._began).starved
            self.charge(plugin, hook, clocks.since(before).caused(seconds, starved))
        self._clocks, self._looked = clocks, now
        self.held += seconds
        self._held_by[plugin] += seconds
        if seconds >= BLOCK_SECONDS:
            self.blocked += seconds

    def charge(self, plugin: str, hook: str, seconds: float) -> None:
        """Count seconds of a hook against its plugin."""
        self._short[plugin].setdefault(hook, 0.0)
        hooks = self._long[plugin]
        hooks[hook] = hooks.get(hook, 0.0) + seconds

    def add_late(self, plugin: str, hook: str, seconds: float) -> None:
        """Add a call that did not end within its own time limit."""
        self._late.append(SlowHook(plugin, hook, seconds, late=True))

    def held_by(self, plugin: str) -> float:
        """Return the seconds for which a plugin's long steps held the loop."""
        return self._held_by.get(plugin, 0.0)

    def timed(self, plugin: str, hook: str) -> bool:
        """Check whether a plugin's hook was called."""
        return hook in self._short.get(plugin, ())

    def slow(self) -> list[SlowHook]:
        """Return the hooks that took too much, slowest plugin first.

        These are the fewest plugins without which the rest is within the allowance. Time in which
        this thread was ready but had no processor, waits for the interpreter's lock, and full
        garbage collections, count against no plugin.
        """
        late = {each.plugin for each in self._late}
        spent = self._spent()
        of = {name: sum(hooks.values()) for name, hooks in spent.items() if name not in late}
        rest = sum(of.values())
        found = list(self._late)
        for plugin in sorted(of, key=lambda name: -of[name]):
            if rest <= ALLOWED_SECONDS or of[plugin] < HOLD_SECONDS:
                break
            rest -= of[plugin]
            hooks = spent[plugin]
            found.append(SlowHook(plugin, max(hooks, key=lambda name: hooks[name]), of[plugin]))
        return found

    def _spent(self) -> dict[str, dict[str, float]]:
        """Return the seconds of each plugin's hooks that count against it."""
        part = self._caused_of_short()
        spent = {
            name: {hook: seconds * part for hook, seconds in hooks.items()}
            for name, hooks in self._short.items()
        }
        for name, hooks in self._long.items():
            for hook, seconds in hooks.items():
                spent[name][hook] += seconds
        return spent

    def _caused_of_short(self) -> float:
        """Return for which part of the short steps the plugins are to blame."""
        short = sum(sum(hooks.values()) for hooks in self._short.values())
        if short <= ALLOWED_SECONDS:
            return 1.0
        # Each of them may have waited a little.
        clocks = _Clocks.now().since(self._began)
        locked = min(clocks.others * (1 + clocks.starved), _MOST_FOR_OTHERS)
        return max(0.0, 1 - (locked + clocks.waited) / short)


_current: contextvars.ContextVar[HookTimes | None] = contextvars.ContextVar(
    "contextkit_hook_times", default=None
)


def hook_times() -> HookTimes | None:
    """Return the times of the running assembly, or None outside of one."""
    return _current.get()


@contextmanager
def timing(times: HookTimes) -> Iterator[HookTimes]:
    """Add the hooks that run in the block to these times."""
    token = _current.set(times)
    try:
        yield times
    finally:
        _current.reset(token)


# -- what the machine did -------------------------------------------------------------------


@frozen
class Starvation:
    """How much this process waits for a processor, since this was made.

    Linux tells it; elsewhere it seems to be 0.
    """

    _before: Mapping[str, float] = field(factory=lambda: dict(_waits_of_threads()), init=False)
    _since: float = field(factory=time.perf_counter, init=False)

    @property
    def is_bad(self) -> bool:
        """Whether the process lost so much time that lateness says nothing of a source."""
        span = time.perf_counter() - self._since
        waited = sum(
            max(0.0, seconds - self._before.get(thread, 0.0))
            for thread, seconds in _waits_of_threads()
        )
        return waited > max(_LEAST_STARVED_SECONDS, _STARVED_PART * span)


def _waits_of_threads() -> Iterator[tuple[str, float]]:
    with contextlib.suppress(OSError):
        for entry in _THREADS.iterdir():
            yield entry.name, _waited_for_a_processor(f"self/task/{entry.name}")


def computed_by(thread: int) -> float:
    """Return the processor time of a thread of this process, in seconds.

    0 for one that has ended, and where the system does not tell it.
    """
    return _schedule_of(f"self/task/{thread}")[0]


@define
class _Collections:
    """Times the full garbage collections, by the thread that they stop.

    Those of another thread do not make a sleeping hook slower.
    """

    seconds: dict[int, float] = field(factory=dict)
    _since: float = 0.0

    def __call__(self, phase: str, info: Mapping[str, int]) -> None:
        if info["generation"] < _FULL:
            return
        now, thread = time.perf_counter(), threading.get_ident()
        if phase == "start":
            self._since = now
        else:
            self.seconds[thread] = self.seconds.get(thread, 0.0) + now - self._since


_collections = _Collections()
gc.callbacks.append(_collections)


def _waited_for_a_processor(thread: str) -> float:
    return _schedule_of(thread)[1]


def _schedule_of(thread: str) -> tuple[float, float, int]:
    """Return for how long a thread ran, and was ready but did not run, and how often it ran."""
    try:
        # A file object would take twice the time.
        file = os.open(f"/proc/{thread}/schedstat", os.O_RDONLY)
        try:
            ran, waited, slices = map(int, os.read(file, _MOST_BYTES).split())
        finally:
            os.close(file)
    except (OSError, ValueError):
        return 0.0, 0.0, 0
    return ran / 1e9, waited / 1e9, slices
