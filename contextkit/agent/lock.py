"""Let one background server run for each socket.

It imports almost nothing: of many processes that start at once, all but one end here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_WAIT_SECONDS = 5.0
_LOOK_SECONDS = 0.05


@contextlib.contextmanager
def only_server(socket_path: str) -> Iterator[bool]:
    """Lock a socket for a server.

    Yields False if another server listens there. A server that is starting or ending has no
    socket; this waits until it has one or has ended. The system frees the lock of a process that
    was killed, and the next server removes its files.
    """
    lock = _lock_of(socket_path)
    deadline = time.monotonic() + _WAIT_SECONDS
    while (number := _take(lock)) is None:
        if os.path.exists(socket_path) or time.monotonic() > deadline:  # noqa: PTH110 - quick
            yield False
            return
        time.sleep(_LOOK_SECONDS)
    try:
        _remove_leftovers(os.path.dirname(socket_path), socket_path)  # noqa: PTH120 - quick
        yield True
    finally:
        _release(number, lock)


def _lock_of(socket_path: str) -> str:
    return f"{socket_path.removesuffix('.sock')}.lock"


def _take(lock: str) -> int | None:
    """Lock a file; return None if another process has it."""
    while True:
        number = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_there(number, lock):
                return number
        except OSError:
            os.close(number)
            return None
        # The process that had the lock has deleted the file.
        os.close(number)


def _is_still_there(number: int, lock: str) -> bool:
    if sys.platform == "win32":
        # The system refuses to delete an open file.
        return True
    try:
        return os.path.samestat(os.fstat(number), os.stat(lock))  # noqa: PTH116 - quick
    except FileNotFoundError:
        return False


def _release(number: int, lock: str) -> None:
    if sys.platform == "win32":
        os.close(number)
    with contextlib.suppress(OSError):
        os.unlink(lock)  # noqa: PTH108 - quick
    if sys.platform != "win32":
        os.close(number)


def _remove_leftovers(folder: str, own: str) -> None:
    """Remove the sockets and locks of servers that were killed."""
    with contextlib.suppress(OSError):
        stems = {name.rpartition(".")[0] for name in os.listdir(folder)}  # noqa: PTH208 - quick
        for stem in stems:
            path = f"{folder}/{stem}.sock"
            if stem and path != own:
                _remove_if_unused(path)
    with contextlib.suppress(OSError):
        os.unlink(own)  # noqa: PTH108 - quick


def _remove_if_unused(socket_path: str) -> None:
    lock = _lock_of(socket_path)
    number = _take(lock)
    if number is not None:
        with contextlib.suppress(OSError):
            os.unlink(socket_path)  # noqa: PTH108 - quick
        _release(number, lock)
