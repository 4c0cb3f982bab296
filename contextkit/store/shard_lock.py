"""Share an embedded store between processes, fairly.

The engine lets one process open a shard. That process keeps the shard open as long as no other
process wants it, which keeps a busy process fast. A process that wants it takes the *ticket*
lock first. The holder looks for a ticket after each operation and while it is idle, and releases
the shard if there is one. Other processes wait for the ticket, so they are served in order.
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
    # A missing shard cannot be read-only.
    return not folder.exists() or os.access(folder, os.W_OK)


def _locked_to_read(number: int) -> bool:
    """Take a shared lock unless a writer has it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
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
        timeout: seconds to wait for other processes before `StoreBusyError`.
        read_only: whether the folder is read-only; known after `acquire`.
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
        """Wait for the shard.

        Raise `StoreBusyError` naming the holder on timeout.
        """
        deadline = time.monotonic() + self.timeout
        try:
            with self._ticket.acquire(timeout=self.timeout, poll_interval=_POLL_SECONDS):
                remaining = max(0.0, deadline - time.monotonic())
                self._held.acquire(timeout=remaining, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise StoreBusyError(
                f"the store at {self.folder} is still in use by {self._holder()} after "
                f"{self.timeout:g} s: wait until it has finished, or raise store.lock_timeout"
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
            self._looked, self._seen = now, self._look()
        return self._seen

    def _acquire_to_read(self, deadline: float) -> None:
        """Lock out writers without the right to write.

        Skip missing lock files.
        """
        for name in ("ticket.lock", "shard.lock"):
            try:
                self._read_locks.append(os.open(self.folder / name, os.O_RDONLY))
            except OSError:
                continue
            while not _locked_to_read(self._read_locks[-1]):
                if time.monotonic() > deadline:
                    self.release()
                    raise StoreBusyError(
                        f"another user has been writing to the store at {self.folder}, which is "
                        f"read-only for you, for longer than {self.timeout:g} s: try again, or "
                        f"raise store.lock_timeout"
                    )
                time.sleep(_POLL_SECONDS)

    def _look(self) -> bool:
        # No process can wait in a folder that was moved, deleted or made inaccessible, and
        # locking would recreate it. `Path.is_dir` would raise if it may not look.
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
            name = f"process {int(self._holder_file.read_text(encoding='utf-8'))}"
        except (OSError, ValueError):
            name = "another process"
        # A conversion or `contextkit reembed` takes longer than a process waits by default.
        is_rewriting = os.path.isdir(self.folder / "shard.new")  # noqa: PTH112
        return f"{name}, which is rewriting it," if is_rewriting else name
