"""Cache what is computed from a text.

Consecutive questions about a project find many of the same records.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

_LONGEST = 2_000
"""Maximum length of a cached text, so that a cache takes a few megabytes at most."""

_TEXTS = 1024


def cached_by_text(function: Callable[[str], T]) -> Callable[[str], T]:
    """Cache a function's results for the latest short texts.

    Args:
        function: a function whose result depends on the text alone, and is never changed.
    """
    cached = lru_cache(maxsize=_TEXTS)(function)

    @wraps(function)
    def call(text: str) -> T:
        return cached(text) if len(text) <= _LONGEST else function(text)

    return call
