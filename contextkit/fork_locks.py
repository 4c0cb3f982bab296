"""Locks that are free in a forked process, whoever held them in its parent."""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType

__all__ = ["ForkLock"]


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
