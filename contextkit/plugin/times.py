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
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident

from attrs import define, field, frozen

ALLOWED_SECONDS = 0.5
"""How long all hooks together may hold one assembly.

The default time limit of all sources is 0.5 s. The first-party hooks together took up to 0.26 s
for a question of 60 words, on a slow machine with a load of nine for each processor.
"""

HOLD_SECONDS = 0.02
"""A shorter step delays the others no more than a busy machine does."""

NEVER_SKIPPED = "contextkit_redact"
"""A late redactor is called again for the next context; texts it did not check are left out."""

BLOCK_SECONDS = 0.25
"""A step that blocks the loop for so long may make every other source late."""

_STARVED_PART = 0.25
"""A process whose threads were ready and did not run for this part of a span is starved."""

_LEAST_STARVED_SECONDS = 0.05
"""Waking up takes some milliseconds on a busy machine, whatever a source does."""

_MOST_WAITING = 20.0
"""How many times as long as it ran another thread may have had the interpreter's lock."""

_LEAST_LOCKED_SECONDS = 0.05
"""For how long another thread may have had it without a processor."""

_LATE_WAKES = 2
"""How many switch intervals a thread that waits for the lock may sleep at once."""

_FAULT_SECONDS = 0.05
"""How long the disk may take to read a page of code that the system dropped."""

_SHORT_WAITING = 5.0
"""The same for an assembly's short steps together."""

_MOST_FOR_SHORT = 1.0
"""For how many seconds others may have kept a context's short steps waiting."""

_LOOK_SECONDS = HOLD_SECONDS / 2
"""How old the clocks may be that a step begins with."""

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
        slices: how often it got a processor; None where the system does not tell.
        collected: for how long it ran full garbage collections.
        others: for how long the other threads ran.
        faults: how often it waited for a page of a file to be read from the disk.
    """

    ran: float
    waited: float
    slices: int | None
    collected: float
    others: float
    faults: int

    @classmethod
    def now(cls) -> _Clocks:
        _, waited, slices = _schedule_of("thread-self")
        ran = time.thread_time()
        collected = _collections.seconds.get(get_ident(), 0.0)
        return cls(ran, waited, slices, collected, time.process_time() - ran, _faults())

    def since(self, before: _Clocks) -> _Clocks:
        return _Clocks(
            self.ran - before.ran,
            self.waited - before.waited,
            None if self.slices is None or before.slices is None else self.slices - before.slices,
            self.collected - before.collected,
            self.others - before.others,
            self.faults - before.faults,
        )

    def caused(self, seconds: float) -> float:
        """Return how long a step of so many seconds ran, or slept, by itself."""
        excused = self.waited + self.collected + self.locked + _FAULT_SECONDS * self.faults
        away = 0.0 if self.slices == 0 else seconds - excused
        return max(0.0, min(seconds, max(away, self.ran - self.collected)))

    @property
    def locked(self) -> float:
        """How long it may have waited for the interpreter's lock.

        A thread that waits for it wakes up once in each switch interval, one that sleeps does not.
        Another thread must have had the lock, but may have had a processor for a small part of
        that time.
        """
        if self.slices is None:
            return self.others
        wakes = _LATE_WAKES * self.slices * sys.getswitchinterval()
        return min(wakes, _LEAST_LOCKED_SECONDS + _MOST_WAITING * self.others)


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
    _late: dict[tuple[str, str], SlowHook] = field(factory=dict, init=False)
    _thread: int = field(factory=get_ident, init=False)
    _began: _Clocks = field(factory=_Clocks.now, init=False)
    _clocks: _Clocks = field(init=False)
    _looked: float = field(factory=time.perf_counter, init=False)

    @_clocks.default
    def _first_clocks(self) -> _Clocks:
        return self._began

    def begin(self) -> Began:
        """Take the clocks, before a call or step."""
        # The system is slow to tell; a long step is longer than this anyway.
        if time.perf_counter() - self._looked >= _LOOK_SECONDS and get_ident() == self._thread:
            self._clocks, self._looked = _Clocks.now(), time.perf_counter()
        # Another thread may have had the interpreter's lock until now.
        return time.perf_counter(), len(sys.modules), self._clocks

    def add(self, plugin: str, hook: str, began: Began) -> None:
        """Add the time of a call or step that ends now, unless it ran in a thread of its own.

        A step that imported modules is a cold start: it is slow once, and does not count against
        the plugin.

        Args:
            plugin: the plugin.
            hook: its hook.
            began: what `begin` returned.
        """
        if get_ident() != self._thread:
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
            self.charge(plugin, hook, clocks.since(before).caused(seconds))
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
        self._late[plugin, hook] = SlowHook(plugin, hook, seconds, late=True)

    def is_late(self, hook: str) -> bool:
        """Check whether any plugin's call of a hook did not end in time."""
        return any(late == hook for _, late in self._late)

    def skips(self, plugin: str) -> bool:
        """Check whether a plugin held an earlier assembly, or one hook of it held this one."""
        if plugin in self.skipped:
            return True
        hooks = self._long.get(plugin)
        return hooks is not None and any(
            seconds > ALLOWED_SECONDS and hook != NEVER_SKIPPED for hook, seconds in hooks.items()
        )

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
        garbage collections, count against no plugin. A plugin's redaction, which is never skipped,
        is apart from its other hooks.
        """
        late = {(plugin, hook == NEVER_SKIPPED) for plugin, hook in self._late}
        spent = {key: hooks for key, hooks in self._spent().items() if key not in late}
        of = {key: sum(hooks.values()) for key, hooks in spent.items()}
        rest = sum(of.values())
        found = list(self._late.values())
        for key in sorted(of, key=lambda key: -of[key]):
            if rest <= ALLOWED_SECONDS or of[key] < HOLD_SECONDS:
                break
            rest -= of[key]
            hook = max(spent[key], key=lambda hook: spent[key][hook])
            found.append(SlowHook(key[0], hook, of[key]))
        return found

    def _spent(self) -> dict[tuple[str, bool], dict[str, float]]:
        """Return the seconds of each plugin's hooks that count against it.

        The key says whether the hook is `NEVER_SKIPPED`.
        """
        part = self._caused_of_short()
        spent: dict[tuple[str, bool], dict[str, float]] = defaultdict(dict)
        for plugin, hooks in self._short.items():
            for hook, seconds in hooks.items():
                long = self._long[plugin].get(hook, 0.0)
                spent[plugin, hook == NEVER_SKIPPED][hook] = seconds * part + long
        return spent

    def _caused_of_short(self) -> float:
        """Return for which part of the short steps the plugins are to blame."""
        short = sum(sum(hooks.values()) for hooks in self._short.values())
        if short <= ALLOWED_SECONDS:
            return 1.0
        # Each of them may have waited a little.
        clocks = _Clocks.now().since(self._began)
        locked = min(_SHORT_WAITING * clocks.others, _MOST_FOR_SHORT)
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
        # Its wait for a processor is counted elsewhere.
        now, thread = time.thread_time(), get_ident()
        if phase == "start":
            self._since = now
        else:
            self.seconds[thread] = self.seconds.get(thread, 0.0) + now - self._since


_collections = _Collections()
gc.callbacks.append(_collections)


def _faults() -> int:
    """Return how often this thread waited for the disk to read a page; 0 where unknown."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_majflt


def _waited_for_a_processor(thread: str) -> float:
    return _schedule_of(thread)[1]


def _schedule_of(thread: str) -> tuple[float, float, int | None]:
    """Return for how long a thread ran, and was ready but did not run, and how often it ran."""
    try:
        # A file object would take twice the time.
        file = os.open(f"/proc/{thread}/schedstat", os.O_RDONLY)
        try:
            ran, waited, slices = map(int, os.read(file, _MOST_BYTES).split())
        finally:
            os.close(file)
    except (OSError, ValueError):
        return 0.0, 0.0, None
    return ran / 1e9, waited / 1e9, slices
