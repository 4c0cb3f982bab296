"""Whether there is a cache, and whether its Redis answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from contextkit.health.finding import Finding, fine, warning

if TYPE_CHECKING:
    from contextkit.caching.caches import Caches

__all__ = ["cache_findings"]

PART = "cache"


def cache_findings(caches: Caches | None) -> Iterator[Finding]:
    """One finding: off, in memory, or which Redis and what is in it."""
    if caches is None:
        yield fine(PART, "off")
    elif caches.levels.redis is None:
        yield fine(PART, "in the memory of each process")
    else:
        yield _redis(caches)


def _redis(caches: Caches) -> Finding:
    url, counts = caches.settings.url, caches.levels.counts_blocking()
    if counts is None:
        reason = caches.levels.redis.problem if caches.levels.redis else None
        remedy = f"start it, or mend cache.url or {caches.settings.password_variable}"
        return warning(PART, f"{url} does not answer: {reason}; everything works without", remedy)
    held = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    return fine(PART, f"{url}: {held or 'nothing in it yet'}")
