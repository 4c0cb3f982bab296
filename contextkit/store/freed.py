"""Return freed memory to the system.

The engine opens a shard with several threads, and the C library keeps what each of them frees.
A process that opens its shard thousands of times would grow with each opening.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from attrs import define, field

_SHARE = 0.02
"""The part of the time that may go into it, also in a process with much memory."""


@functools.cache
def _trim() -> Callable[[int], int] | None:
    """The C library's `malloc_trim`, which only glibc has."""
    # numpy has imported it by the time a shard is closed.
    import ctypes

    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return found


@define
class _Releases:
    _next: float = field(default=0.0, init=False)

    def release(self) -> None:
        trim, now = _trim(), time.monotonic()
        if trim is None or now < self._next:
            return
        began = time.thread_time()
        trim(0)
        self._next = now + (time.thread_time() - began) / _SHARE


release_freed_memory = _Releases().release
"""Return freed memory, in some two milliseconds; called again at once, it does nothing."""
