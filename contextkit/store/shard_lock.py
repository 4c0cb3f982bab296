"""Taking turns on an embedded store: one process at a time, and none of them for long.

The engine lets one process hold a shard. Whoever holds it keeps it while nobody else
wants it, so that a busy process stays fast; whoever wants it takes the *ticket* first, and
the holder, which looks for a ticket after each operation and while it is idle, lets go.
The next in line waits for the ticket, so that turns are fair.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from pathlib import Path

from attrs import define, field
from filelock import FileLock, Timeout

from contextkit.errors import StoreBusyError, StoreError
from contextkit.files import write_private

_NOT_WRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_POLL_SECONDS = 0.005
_LOOK_SECONDS = 0.002


def _lock_at(path: Path) -> FileLock:
    return FileLock(path, mode=0o600, thread_local=False)


def _is_writable(folder: Path) -> bool:
    # Without a shard there is nothing yet that could not be written.
    return not folder.exists() or os.access(folder, os.W_OK)


def _locked_to_read(number: int) -> bool:
    """Lock an open file for as long as it is open, unless a writer has it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some file systems have no locks for who cannot write.
        return True
    return True


@define(eq=False)
class ShardLock:
    """The two file locks of one shard; not for two threads at once.

    Attributes:
        folder: where the lock files are; it must exist.
        timeout: seconds to wait for other processes before `StoreBusyError`.
        read_only: whether the folder cannot be written to; known once it was acquired.
    """

    folder: Path
    timeout: float
    _held: FileLock = field(init=False)
    _ticket: FileLock = field(init=False)
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

    @property
    def _holder_file(self) -> Path:
        return self.folder / "holder"

    def acquire(self) -> None:
        """Wait for the shard; raise `StoreBusyError` naming the holder after `timeout`."""
        deadline = time.monotonic() + self.timeout
        try:
            with self._ticket.acquire(timeout=self.timeout, poll_interval=_POLL_SECONDS):
                remaining = max(0.0, deadline - time.monotonic())
                self._held.acquire(timeout=remaining, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise StoreBusyError(
                f"the store at {self.folder} is held by {self._holder()} for longer than "
                f"{self.timeout:g} s: end that process, or raise store.lock_timeout"
            ) from error
        except OSError as error:
            if error.errno not in _NOT_WRITABLE:
                raise StoreError(
                    f"cannot lock the store at {self.folder}: {error.strerror or error}"
                ) from error
            self.read_only = True
            self._acquire_to_read(deadline)
            return
        self.read_only = not _is_writable(self.folder / "shard")
        with contextlib.suppress(OSError):
            write_private(self._holder_file, str(os.getpid()))

    def release(self) -> None:
        """Let the next process have it, at the end of this one where the system fails before."""
        with contextlib.suppress(OSError):
            self._held.release()
        while self._read_locks:
            os.close(self._read_locks.pop())

    def wanted(self) -> bool:
        """Whether another process waits for it, as of two milliseconds ago at most."""
        if self.read_only:
            return False
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked, self._seen = now, self._look()
        return self._seen

    def _acquire_to_read(self, deadline: float) -> None:
        """Keep writers out without a right to write; where a lock's file is missing, do nothing."""
        for name in ("ticket.lock", "shard.lock"):
            try:
                self._read_locks.append(os.open(self.folder / name, os.O_RDONLY))
            except OSError:
                continue
            while not _locked_to_read(self._read_locks[-1]):
                if time.monotonic() > deadline:
                    self.release()
                    raise StoreBusyError(
                        f"the store at {self.folder}, which you can only read, is written to by "
                        f"another user for longer than {self.timeout:g} s: try again, or raise "
                        f"store.lock_timeout"
                    )
                time.sleep(_POLL_SECONDS)

    def _look(self) -> bool:
        # Moved away, deleted or out of reach: nobody can wait there, and the lock would make it
        # anew. `Path.is_dir` would raise where it may not look.
        if not os.path.isdir(self.folder):  # noqa: PTH112
            return False
        try:
            self._ticket.acquire(blocking=False)
            self._ticket.release()
        except Timeout:
            return True
        except OSError:
            return False
        return False

    def _holder(self) -> str:
        try:
            return f"process {int(self._holder_file.read_text(encoding='utf-8'))}"
        except (OSError, ValueError):
            return "another process"
