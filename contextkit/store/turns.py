"""Share an open shard between threads and processes.

A process keeps the shard open while it works and for a while afterwards, because opening takes
longer than a search. When another process waits, the holder closes the shard: soon if it is
idle, else after as much work as opening took, when the running operations have ended.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import qdrant_edge as edge
from attrs import define, field

from contextkit.errors import StoreBusyError, StoreError
from contextkit.files import make_private_folder
from contextkit.logs import get_logger
from contextkit.store.base import refuse_earlier_work
from contextkit.store.engine_errors import engine_errors
from contextkit.store.freed import release_freed_memory
from contextkit.store.shard_lock import ShardLock

_LEAST_WORK_SECONDS = 0.1
_POLL_SECONDS = 0.05
_COURTESY_SECONDS = 1.0
_LEAST_IDLE_SECONDS = 0.025
_SOON_SECONDS = 0.5
_MOST_IDLE_SECONDS = 0.2
"""A process that used the shard again right after it had to close it keeps it for so long."""

_HOLD_SECONDS = 30.0
"""A hold in which nothing happened for so long shows no life any more."""

_log = get_logger(__name__)


@define(eq=False)
class SharedShard:
    """A shard that opens on use and closes on demand.

    Attributes:
        folder: the store's folder, which has the lock files.
        load: prepares the folder and opens the shard while the lock is held; gets whether the
            folder is read-only.
        closed: called after the shard is closed, while the lock is still held.
        lock_timeout: seconds to wait for a process that makes no progress before
            `StoreBusyError`.
        idle_seconds: seconds without use before the shard is closed.
    """

    folder: Path
    load: Callable[[bool], edge.EdgeShard]
    closed: Callable[[], None]
    lock_timeout: float
    idle_seconds: float
    _turn: threading.Condition = field(factory=threading.Condition, init=False)
    _shard: edge.EdgeShard | None = field(default=None, init=False)
    _lock: ShardLock | None = field(default=None, init=False)
    _opening: Future[None] | None = field(default=None, init=False)
    _place: object = field(default=None, init=False)
    _operations: int = field(default=0, init=False)
    _holds: int = field(default=0, init=False)
    _closing: bool = field(default=False, init=False)
    _opened: float = field(default=0.0, init=False)
    _last_used: float = field(default=0.0, init=False)
    _closed_at: float = field(default=-_SOON_SECONDS, init=False)
    _refused_before: float = field(default=-math.inf, init=False)
    _work_seconds: float = field(default=_LEAST_WORK_SECONDS, init=False)
    _idle_wanted: float = field(default=0.0, init=False)

    def __attrs_post_init__(self) -> None:
        _living.add(self)

    @property
    def is_open(self) -> bool:
        """Whether this process has the shard open."""
        return self._shard is not None

    @contextlib.contextmanager
    def use(self) -> Iterator[edge.EdgeShard]:
        """The open shard, for one operation."""
        shard = self._enter(operations=1)
        try:
            yield shard
        finally:
            self._leave(operations=1)

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the shard open for several operations.

        It may end on another thread than it began on.
        """
        self._enter(holds=1)
        try:
            yield
        finally:
            self._leave(holds=1)

    def while_open(self, do: Callable[[], None]) -> None:
        """Call a function if this process has the shard open."""
        with self._turn:
            if self._shard is not None:
                do()

    def close(self) -> None:
        """Close the shard, and do not open it again for work that began before."""
        self._refused_before = time.perf_counter()
        self.release()

    def release(self) -> None:
        """Close the shard once the running operations have ended.

        A hold does not prevent this; the next use opens the shard again.
        """
        with self._turn:
            self._closing = True
            if self._turn.wait_for(self._is_quiet, timeout=self.lock_timeout):
                self._let_go()

    # -- threads --------------------------------------------------------------------------

    def _enter(self, *, operations: int = 0, holds: int = 0) -> edge.EdgeShard:
        while True:
            with self._turn:
                self._let_others_first(holding=bool(holds))
                if self._shard is not None and not self._operations and self._moved():
                    self._let_go()
                if self._shard is not None:
                    self._operations += operations
                    self._holds += holds
                    return self._shard
                refuse_earlier_work(self._refused_before, self.folder)
                mine = self._opening is None
                opening = self._opening = self._opening or Future()
            if mine:
                return self._open(opening, operations, holds)
            opening.result()

    def _leave(self, *, operations: int = 0, holds: int = 0) -> None:
        with self._turn:
            self._operations = max(0, self._operations - operations)
            self._holds = max(0, self._holds - holds)
            self._last_used = time.monotonic()
            if not self._operations and (self._closing or (not self._holds and self._overdue())):
                self._let_go()
            self._turn.notify_all()

    def _let_others_first(self, *, holding: bool) -> None:
        """Wait until a wanted shard was closed.

        Operations within a hold go on, or that hold would never end. The wait is bounded, because
        the other process may itself wait for the caller.
        """

        def may_go_on() -> bool:
            busy = self._operations or self._holds
            within_hold = self._holds and not holding
            return not busy or bool(within_hold) or not self._overdue()

        deadline = time.monotonic() + _COURTESY_SECONDS
        while not may_go_on() and time.monotonic() < deadline:
            self._turn.wait(timeout=_POLL_SECONDS)

    def _overdue(self) -> bool:
        if self._lock is None or time.monotonic() - self._opened < self._work_seconds:
            return False
        return self._lock.wanted()

    # -- processes ------------------------------------------------------------------------

    def _open(self, opening: Future[None], operations: int, holds: int) -> edge.EdgeShard:
        """Open the shard, and enter it.

        All threads that wait get it, or the same error.
        """
        lock = ShardLock(self.folder, self.lock_timeout)
        regretted = time.monotonic() - self._closed_at < _SOON_SECONDS
        idle = 2 * self._idle_wanted if regretted else _LEAST_IDLE_SECONDS
        self._idle_wanted = min(idle, _MOST_IDLE_SECONDS)
        try:
            self._make_folder()
            lock.acquire()
            began = time.monotonic()
            try:
                shard = self.load(lock.read_only)
            except BaseException:
                lock.release()
                raise
        except BaseException as error:
            with self._turn:
                self._opening = None
                self._turn.notify_all()
            interrupted = StoreBusyError(f"opening {self.folder} was interrupted")
            opening.set_exception(error if isinstance(error, Exception) else interrupted)
            raise
        with self._turn:
            if lock.read_only:
                # The open shard is a private copy, so the lock is not needed.
                lock.release()
            self._shard, self._lock, self._opening = shard, lock, None
            self._place = self._look_up()
            self._opened = self._last_used = time.monotonic()
            self._work_seconds = max(_LEAST_WORK_SECONDS, self._opened - began)
            opening.set_result(None)
            threading.Thread(
                target=self._watch, args=(shard,), name="contextkit-store", daemon=True
            ).start()
            # Nothing can close the shard before this thread used it.
            self._operations += operations
            self._holds += holds
            self._turn.notify_all()
            return shard

    def _is_quiet(self) -> bool:
        return not self._operations and self._opening is None

    def _make_folder(self) -> None:
        try:
            if not self.folder.is_dir():
                make_private_folder(self.folder)
        except OSError as error:
            raise StoreError(f"cannot create a store at {self.folder}: {error.strerror}") from error

    def _let_go(self) -> None:
        shard, self._shard = self._shard, None
        self._closing = False
        try:
            if shard is not None:
                with engine_errors(f"closing the store at {self.folder}"):
                    shard.close()
                # If the folder was replaced, the new one belongs to another process.
                if not self._moved():
                    self.closed()
        except StoreError as error:
            # Acknowledged writes are in the write-ahead log, which the next opening replays.
            _log.warning("store_close_failed", reason=str(error))
        finally:
            self._closed_at = time.monotonic()
            lock, self._lock = self._lock, None
            if lock is not None:
                lock.release()
            release_freed_memory()

    def _watch(self, shard: edge.EdgeShard) -> None:
        """Close an idle shard; at once when another process waits."""
        while True:
            time.sleep(_POLL_SECONDS)
            with self._turn:
                if self._shard is not shard:
                    return
                self._show_life()
                idle = time.monotonic() - self._last_used
                if self._operations or self._holds or self._lock is None:
                    continue
                waiting = idle >= self._idle_wanted and self._lock.wanted()
                if waiting or idle >= self.idle_seconds:
                    self._let_go()
                    return

    def _show_life(self) -> None:
        """Show waiting processes that an operation or a fresh hold goes on."""
        lock = self._lock
        fresh = self._holds and time.monotonic() - self._last_used < _HOLD_SECONDS
        if lock is not None and (self._operations or fresh) and lock.wanted():
            lock.show_life()

    # -- surprises ------------------------------------------------------------------------

    def _look_up(self) -> object:
        try:
            found = (self.folder / "shard").stat()
            place = (found.st_dev, found.st_ino)
            if self._lock is None or not self._lock.read_only:
                return place
            # A read-only copy is also outdated when others write to the original.
            with os.scandir(self.folder / "revisions") as files:
                return place, sorted((file.name, file.stat().st_mtime_ns) for file in files)
        except OSError:
            return None

    def _moved(self) -> bool:
        """Whether the open shard's folder was moved or deleted."""
        return self._look_up() != self._place

    def before_fork(self) -> None:
        """Close the shard, because a child would keep its locks."""
        self._turn.acquire()
        self._turn.wait_for(self._is_quiet, timeout=self.lock_timeout)
        if not self._operations:
            self._let_go()

    def after_fork_in_parent(self) -> None:
        """Release the lock taken before the fork."""
        self._turn.release()

    def after_fork_in_child(self) -> None:
        """Forget the parent's threads and its shard."""
        self._turn = threading.Condition()
        if self._shard is not None:
            _of_parents.append((self._shard, self._lock))
        self._shard = self._lock = self._opening = None
        self._operations = self._holds = 0


_living: weakref.WeakSet[SharedShard] = weakref.WeakSet()
_forking: list[SharedShard] = []
_one_fork = threading.Lock()
_of_parents: list[object] = []
"""References to parents' shards: dropping one in a child would write to it."""


def _before_fork() -> None:
    _one_fork.acquire()
    _forking[:] = _living
    for shard in _forking:
        shard.before_fork()


def _after_fork_in_parent() -> None:
    for shard in _forking:
        shard.after_fork_in_parent()
    _forking.clear()
    _one_fork.release()


def _after_fork_in_child() -> None:
    for shard in _forking:
        shard.after_fork_in_child()
    _forking.clear()
    _one_fork.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
