"""Wait in line for an embedded store, as long as its holder makes progress."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import define, field

from contextkit.errors import StoreBusyError
from contextkit.files import make_private_folder, open_private
from contextkit.logs import get_logger
from contextkit.store.holder import Holder, last_beat, last_write

_LINE = "waiting"
_PASS_SECONDS = 1.0
"""After this time, others pass a process that was killed or stopped while it waits."""

_SIGN_SECONDS = 0.5
_SAID_AFTER_SECONDS = 1.0
_MOST_TIMEOUTS = 30
"""A wait ends after this many timeouts, also if the store's holders make progress."""

_log = get_logger(__name__)


_listeners: list[Callable[[str], None]] = []


@contextlib.contextmanager
def on_wait(listener: Callable[[str], None]) -> Iterator[None]:
    """Call a function with a line about each wait of more than a second, in any thread."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@define
class Wait:
    """One process's wait for a store.

    Attributes:
        folder: the store's folder.
        timeout: seconds without a sign of life of the holder before `StoreBusyError`.
    """

    folder: Path
    timeout: float
    _began: float = field(init=False)
    _beat: int | None = field(default=None, init=False)
    _written: int | None = field(default=None, init=False)
    _signed: float = field(default=0.0, init=False)
    _looked: float = field(default=0.0, init=False)
    _said: bool = field(default=False, init=False)

    @_began.default
    def _note_begin(self) -> float:
        return time.monotonic()

    def until(self, succeeds: Callable[[], bool], poll_seconds: float) -> None:
        """Call a function until it succeeds.

        Raises `StoreBusyError` if the holder makes no progress, or the wait takes too long.
        """
        while not succeeds():
            self._check()
            time.sleep(poll_seconds)

    def _check(self) -> None:
        now = time.monotonic()
        if now - self._looked >= min(_SIGN_SECONDS, self.timeout / 2):
            self._looked = now
            if self._lives(quiet=now - self._signed >= self.timeout / 4):
                self._signed = now
        if not self._said and now - self._began >= _SAID_AFTER_SECONDS:
            self._said = True
            tell_wait("the store", self.folder)
        if now - self._signed >= self.timeout:
            raise StoreBusyError(self._stuck())
        if now - self._began >= self.timeout * _MOST_TIMEOUTS:
            raise StoreBusyError(self._still_busy())

    def _lives(self, *, quiet: bool) -> bool:
        """Whether there is a new sign of life.

        A store has hundreds of files, which are looked at only while there is no other sign.
        """
        before, self._beat = self._beat, last_beat(self.folder)
        if self._beat != before:
            self._written = None
            return True
        if not quiet:
            return False
        written, self._written = self._written, last_write(self.folder)
        return written is not None and written != self._written

    def _stuck(self) -> str:
        holder = Holder.read(self.folder)
        if holder is None:
            return (
                f"the store at {self.folder} is still in use by another process, which made no "
                f"progress in the last {self.timeout:g} s: try again, or raise store.lock_timeout"
            )
        return (
            f"the store at {self.folder} is still in use by {holder.name}, which has had it for "
            f"{holder.seconds} s and made no progress in the last {self.timeout:g} s: wait, or "
            f"raise store.lock_timeout; it is safe to end that process if it hangs, because the "
            f"store keeps every confirmed write"
        )

    def _still_busy(self) -> str:
        holder = Holder.read(self.folder)
        now = "" if holder is None else f", now by {holder.name}"
        return (
            f"the store at {self.folder} is still in use after {time.monotonic() - self._began:.0f}"
            f" s{now}: try again when less is going on, or raise store.lock_timeout"
        )


def tell_wait(what: str, folder: Path) -> None:
    """Log a wait, and tell the listeners.

    Args:
        what: what this process waits for.
        folder: the folder in which its user is named as the holder.
    """
    holder = Holder.read(folder)
    name = "another process" if holder is None else holder.name
    since = None if holder is None else time.strftime("%H:%M:%S", time.localtime(holder.since))
    _log.info("waiting_for_turn", what=what, folder=str(folder), holder=name, since=since)
    for listener in tuple(_listeners):
        listener(f"waiting for {what}, which {name} has used{f' since {since}' if since else ''}")


@define
class Line:
    """The processes that wait for one store, first come, first served.

    Each has a file in the folder `waiting`, named by the time at which it came. The line is for
    fairness alone; locks guard the store. A process that is killed or stopped while it waits is
    passed by the others.

    Attributes:
        store: the store's folder.
        passes: whether the head of the line has not moved for a while, so that another process may
            try; true once a second.
    """

    store: Path
    passes: bool = field(init=False, default=False)
    _place: str = field(init=False, default="")
    _head: str = field(init=False, default="")
    _headed: float = field(init=False, default=0.0)

    @property
    def _folder(self) -> Path:
        return self.store / _LINE

    def is_empty(self) -> bool:
        """Whether no process waits in line."""
        return not self._places()

    def join(self) -> None:
        """Take the last place.

        Raises `OSError` where nothing can be written.
        """
        # By the date, as a monotonic clock begins anew at each start of the machine: the file of a
        # process that was killed before would stand behind all others, and never be passed.
        self._place = f"{time.time_ns():020d}-{os.getpid()}-{threading.get_ident()}"
        self._stand()

    def is_served(self) -> bool:
        """Whether this process is the first, or may pass those before it."""
        places = self._places()
        if self._place not in places:
            # A process that passed this one has removed its file.
            self._stand()
            return False
        now = time.monotonic()
        if places[0] != self._head:
            self._head, self._headed = places[0], now
        self.passes = now - self._headed >= _PASS_SECONDS
        if self.passes:
            self._headed = now
        return self.passes or places[0] == self._place

    def leave(self) -> None:
        """Give up the place, and those of processes that were passed."""
        for place in (*(each for each in self._places() if each < self._place), self._place):
            (self._folder / place).unlink(missing_ok=True)

    def _stand(self) -> None:
        make_private_folder(self._folder)
        os.close(open_private(self._folder / self._place, os.O_WRONLY | os.O_CREAT))

    def _places(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))  # noqa: PTH208 - names, not paths
        except OSError:
            return []
