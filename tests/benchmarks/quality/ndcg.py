"""How good a ranking of files is; knows nothing of how it came about."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable

__all__ = ["ndcg"]


def ndcg(found: Iterable[str], targets: Collection[str], at: int = 10) -> float:
    """Normalised discounted cumulative gain with binary gain, 0..1.

    Args:
        found: the file of each result, best first; only the first result of a file counts.
        targets: the files that answer the question, at least one.
        at: how many files are looked at.
    """
    files = list(dict.fromkeys(found))[:at]
    gained = sum(_discount(place) for place, file in enumerate(files) if file in targets)
    return gained / sum(_discount(place) for place in range(min(at, len(targets))))


def _discount(place: int) -> float:
    return 1 / math.log2(place + 2)
