"""Cache what is computed from a text.

Consecutive questions about a project find many of the same records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

T = TypeVar("T")
More = TypeVarTuple("More")


def cached_by_length(
    results: dict[int, int],
) -> Callable[[Callable[[str, *More], T]], Callable[[str, *More], T]]:
    """Cache a function's latest results: many for short texts, few or none for long ones.

    What is computed from a text may take hundreds of times the text's own memory.

    Args:
        results: maximum length of a text, in characters -> how many results are kept of texts
            up to this length, shortest first. Of longer texts than the last, none is kept.

    Returns:
        A decorator of a function whose first argument is the text. Its result depends on its
        arguments alone, and is never changed.
    """

    def decorate(function: Callable[[str, *More], T]) -> Callable[[str, *More], T]:
        call = function
        for longest, most in reversed(results.items()):
            call = _caching(function, longest, most, call)
        return wraps(function)(call)

    return decorate


def _caching(
    function: Callable[[str, *More], T],
    longest: int,
    most: int,
    of_longer: Callable[[str, *More], T],
) -> Callable[[str, *More], T]:
    cached = lru_cache(maxsize=most)(function)

    def call(text: str, *more: *More) -> T:
        return cached(text, *more) if len(text) <= longest else of_longer(text, *more)

    return call


cached_by_text = cached_by_length({2_000: 1024})
"""Cache a function's results for the latest short texts, in a few megabytes."""
