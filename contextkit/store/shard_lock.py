"""Share an embedded store between processes, fairly.

The engine lets one process open a shard. That process keeps the shard open as long as no other
process wants it, which keeps a busy process fast. A process that wants it takes the *ticket*
lock first. The holder looks for a ticket after each operation and while it is idle, and releases
the shard if there is one. Other processes wait in line for the ticket, so a holder that wants
the shard again comes after them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from functools import partial
from pathlib import Path

from attrs import define, field
from filelock import FileLock, Timeout

from contextkit.errors import StoreError
from contextkit.store.holder import Beat
from contextkit.store.waiting import Line, Wait

if sys.platform != "win32":
    import fcntl

_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_POLL_SECONDS = 0.005
_LINE_POLL_SECONDS = 0.02
_LOOK_SECONDS = 0.002


def _lock_at(path: Path) -> FileLock:
    return FileLock(path, mode=0o600, thread_local=False)


def _acquired(lock: FileLock) -> bool:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


def _is_locked(lock: FileLock) -> bool:
    """Whether another process has a lock.

    Taking it with `FileLock` takes ten times as long, and would recreate the file in a folder that
    was moved or deleted, where no process can wait.
    """
    try:
        number = os.open(lock.lock_file, os.O_RDONLY)
    except OSError:
        return False
    try:
        if sys.platform != "win32":
            fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
    except BlockingIOError:
        return True
    except OSError:
        # Some file systems refuse locks of this kind.
        pass
    finally:
        os.close(number)
    if not _acquired(lock):
        return True
    lock.release()
    return False


def _is_writable(folder: Path) -> bool:
    # A missing shard cannot be read-only.
    return not folder.exists() or os.access(folder, os.W_OK)


def _locked_to_read(number: int) -> bool:
    """Take a shared lock unless a writer has it."""
    try:
        if sys.platform != "win32":
            fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some file systems refuse locks to users who cannot write.
        return True
    return True


@define(eq=False)
class ShardLock:
    """The two file locks of one shard; not thread-safe.

    Attributes:
        folder: the folder of the lock files; it must exist.
        timeout: seconds to wait for a process that makes no progress before `StoreBusyError`.
        read_only: whether the folder is read-only; known after `acquire`.
    """

    folder: Path
    timeout: float
    _held: FileLock = field(init=False)
    _ticket: FileLock = field(init=False)
    _beat: Beat = field(init=False)
    read_only: bool = field(default=False, init=False)
    _read_locks: list[int] = field(factory=list, init=False)
    _looked: float = field(default=0.0, init=False)
    _seen: bool = field(default=False, init=False)

    @_held.default
    def _make_held(self) -> FileLock:
        return _lock_at(self.folder / "shard.lock")

    @_ticket.default
    def _make_ticket(self) -> FileLock:
        return _lock_at(self.folder / "ticket.lock")

    @_beat.default
    def _make_beat(self) -> Beat:
        return Beat(self.folder)

    def acquire(self) -> None:
        """Wait for the shard.

        Raises `StoreBusyError` if its holder makes no progress (see `waiting`).
        """
        wait = Wait(self.folder, self.timeout)
        try:
            self._take_turn(wait)
        except OSError as error:
            if error.errno not in _NOT_WRITABLE:
                raise StoreError(
                    f"cannot lock the store at {self.folder}: {error.strerror or error}"
                ) from error
            self.read_only = True
            self._acquire_to_read(wait)
            return
        self.read_only = not _is_writable(self.folder / "shard")
        self._beat.begin()

    def _take_turn(self, wait: Wait) -> None:
        line = Line(self.folder)
        try:
            if not (line.is_empty() and _acquired(self._ticket)):
                self._wait_in(line, wait)
            if not self._held.is_locked:
                wait.until(lambda: _acquired(self._held), _POLL_SECONDS)
        finally:
            self._ticket.release()

    def _wait_in(self, line: Line, wait: Wait) -> None:
        """Take the ticket; the shard itself, if a stopped process has the ticket."""

        def served() -> bool:
            return line.is_served() and (
                _acquired(self._ticket) or (line.passes and _acquired(self._held))
            )

        line.join()
        try:
            wait.until(served, _LINE_POLL_SECONDS)
        finally:
            line.leave()

    def show_life(self) -> None:
        """Show waiting processes that this one makes progress."""
        self._beat.go_on()

    def release(self) -> None:
        """Let the next process have the shard.

        If this fails, the process's end does.
        """
        with contextlib.suppress(OSError):
            self._held.release()
        while self._read_locks:
            os.close(self._read_locks.pop())

    def wanted(self) -> bool:
        """Whether another process waits, checked every two milliseconds."""
        if self.read_only:
            return False
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked, self._seen = now, _is_locked(self._ticket)
        return self._seen

    def _acquire_to_read(self, wait: Wait) -> None:
        """Lock out writers without the right to write.

        Skip missing lock files.
        """
        try:
            for name in ("ticket.lock", "shard.lock"):
                try:
                    number = os.open(self.folder / name, os.O_RDONLY)
                except OSError:
                    continue
                self._read_locks.append(number)
                wait.until(partial(_locked_to_read, number), _POLL_SECONDS)
        except BaseException:
            self.release()
            raise
