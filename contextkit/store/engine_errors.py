"""What Qdrant Edge raises, as a `StoreError` of one line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from contextkit.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError

_SYSTEM_TROUBLE = ("os error 12", "os error 13", "os error 24", "os error 30")
"""No memory, no permission, too many open files, a read-only disk: not the store's damage."""


@contextlib.contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn what the engine raises, a Rust panic included, into a `StoreError`."""
    try:
        yield
    except StoreError:
        raise
    except BaseException as error:
        panicked = type(error).__name__ == "PanicException"
        if not panicked and not isinstance(error, Exception):
            raise
        reason = " ".join(str(error).split())
        if "os error 28" in reason:
            raise StoreFullError(f"{doing}: the disk is full ({reason})") from error
        raise StoreError(f"{doing}: {reason}") from error


@contextlib.contextmanager
def opening_errors(path: object) -> Iterator[None]:
    """`engine_errors` for opening a shard: what is nobody else's fault is damage."""
    try:
        with engine_errors("the engine says"):
            yield
    except StoreFullError:
        raise
    except StoreError as error:
        reason = str(error)
        if "WouldBlock" in reason:
            raise StoreBusyError(
                f"the store at {path} is open in a process that does not share it, a forked child "
                f"perhaps: wait until that process ends, then try again"
            ) from error
        if any(trouble in reason for trouble in _SYSTEM_TROUBLE):
            raise StoreError(f"cannot open the store at {path}: {reason}") from error
        raise damaged(path, reason) from error


def damaged(path: object, reason: str) -> StoreDamagedError:
    """The error of a store that is there and does not open."""
    return StoreDamagedError(
        f"the store at {path} does not open ({reason}); no record in it was touched: move that "
        f"folder away, then `contextkit import` your last export and `contextkit index`"
    )
