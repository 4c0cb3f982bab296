"""Turn Qdrant Edge's errors into one-line `StoreError`s."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from contextkit.errors import StoreBusyError, StoreDamagedError, StoreError, StoreFullError

_SYSTEM_TROUBLE = ("os error 12", "os error 13", "os error 24", "os error 30")
"""No memory, no permission, too many open files, read-only disk: errors of the system."""


@contextlib.contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turn the engine's exceptions, Rust panics included, into `StoreError`."""
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
    """`engine_errors` for opening a shard; other failures count as damage."""
    try:
        with engine_errors("the engine says"):
            yield
    except StoreFullError:
        raise
    except StoreError as error:
        reason = str(error)
        if "WouldBlock" in reason:
            raise StoreBusyError(
                f"the store at {path} is open in a process that does not share it, such as a "
                f"forked child: wait until that process has ended, or set store.path to another "
                f"folder"
            ) from error
        if any(trouble in reason for trouble in _SYSTEM_TROUBLE):
            raise StoreError(f"cannot open the store at {path}: {reason}") from error
        raise damaged(path, reason) from error


def damaged(path: object, reason: str) -> StoreDamagedError:
    """The error of a store that does not open."""
    return StoreDamagedError(
        f"the store at {path} does not open ({reason}); none of its records was changed: move "
        f"that folder away, then `contextkit import` your last export and run `contextkit index`"
    )
