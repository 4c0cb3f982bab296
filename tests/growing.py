"""Whether what is done takes time in proportion to the text that it is done to."""

from __future__ import annotations

import contextlib
import gc
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["assert_linear", "seconds", "uncounted"]

Given = TypeVar("Given")

_STEP = 16
_MOST_GROWTH = 100
"""Sixteen times the text takes about sixteen times as long; 256 times where the square counts."""

_FIRST_SECONDS = 1.0
"""What the smallest text may take, with what is imported and made for the first one."""

_FLOOR_SECONDS = 0.25
"""What takes less says nothing."""

_ATTEMPTS = 3
"""A virtual machine that is paused for a while counts the pause as processor time."""


def seconds(run: Callable[[Given], object], given: Given) -> float:
    """The processor time of this thread, without garbage collections and counts of lines.

    How many collections there are depends on what ran before.
    """
    gc.disable()
    try:
        with uncounted():
            start = time.thread_time()
            run(given)
            return time.thread_time() - start
    finally:
        gc.enable()


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Count no lines: it takes several times as long."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def assert_linear(
    run: Callable[[Given], object], make: Callable[[int], Given], largest: int = 1_000_000
) -> None:
    """Fail where sixteen times as much takes a hundred times as long.

    It begins small and ends at the first size that took too long, so that what takes the
    square, or has no end, fails soon.

    Args:
        run: what is done.
        make: what it is done to, of so many characters.
        largest: the size to go up to.
    """
    before = _FIRST_SECONDS / _MOST_GROWTH
    for size in (largest // _STEP**2, largest // _STEP, largest):
        allowed = max(_MOST_GROWTH * before, _FLOOR_SECONDS)
        for attempt in range(_ATTEMPTS):
            # Another text each time: the answer for this one may be in a cache by now.
            took = seconds(run, make(size - attempt * size // 32))
            if took <= allowed:
                break
        assert took <= allowed, f"{size:,} characters took {took:.3f} s, before {before:.3f} s"
        before = took
