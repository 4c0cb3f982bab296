"""How good a ranking is; knows nothing of how it came about."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["ndcg"]


def ndcg(places: Iterable[int], at: int = 10) -> float:
    """Normalised discounted cumulative gain with binary gain, 0..1.

    Args:
        places: the place in the ranking of each target, from 1; 0 for one that was not found;
            at least one. Of targets in one place the others count one place later each.
        at: how many places are looked at.
    """
    wanted = sorted(places)
    gained, last = 0.0, 0
    for place in filter(None, wanted):
        last = max(place, last + 1)
        gained += _discount(last) if last <= at else 0.0
    return gained / sum(_discount(place) for place in range(1, min(at, len(wanted)) + 1))


def _discount(place: int) -> float:
    return 1 / math.log2(place + 1)
