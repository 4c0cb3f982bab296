"""Split a token budget by weight.

Shares are integers, rounded by largest remainder. The weights may follow the percentages of a
strategy (`by_percent`) and the results of the question (`by_evidence`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_NEXT_TO_NOTHING = 1e-6
"""Weight of keys with 0 percent: they only get what others leave."""

_EVIDENCE_COUNTS = 2
"""The exponent of evidence: half of the best evidence gets a quarter of the room."""


def by_evidence(
    weights: Mapping[str, float], evidence: Mapping[str, float], likely: Mapping[str, float]
) -> dict[str, float]:
    """Multiply weights by how well each key answers.

    If all have the same evidence and likelihood, the weights keep their proportions.

    Args:
        weights: key -> weight, each over 0.
        evidence: key -> its items' share of the question, each 0..1.
        likely: key -> how likely it answers such a question, each 0..1.
    """
    best = max(evidence.values(), default=0.0) or 1.0
    return {
        key: weight * likely[key] * (evidence[key] / best) ** _EVIDENCE_COUNTS
        for key, weight in weights.items()
    }


def readable_shares(weights: Mapping[str, float], total: int, least: int) -> dict[str, int]:
    """Split `total` tokens over keys with readable shares.

    The lightest key is dropped and its share divided among the others, until each share is large
    enough to be readable. At least one key remains.

    Args:
        weights: key -> weight, each at least 0.
        total: tokens, at least 0.
        least: the smallest share, in tokens.
    """
    kept = {key: weight for key, weight in weights.items() if weight > 0}
    while kept:
        split = shares(kept, total)
        lightest = min(kept, key=lambda key: (kept[key], key))
        if len(kept) == 1 or split[lightest] >= least:
            return split
        del kept[lightest]
    return {}


def by_percent(
    weights: Mapping[str, float], sources: Mapping[str, str], percent: Mapping[str, float]
) -> dict[str, float]:
    """Compute weights that give the named sources their percentages.

    The sections of a source divide its percentage by their weights; the sections of all unnamed
    sources divide the remaining percentage in the same way. If all sources are named, or none,
    the weights keep their proportions and fill the budget. A source with 0 percent only gets what
    the others leave.

    Args:
        weights: section -> its weight, each over 0.
        sources: section -> its source.
        percent: source -> its percentage of the budget, each at least 0, at most 100 together.

    Returns:
        Section -> its weight, each over 0.
    """
    if not percent:
        return dict(weights)
    named = {source: percent[source] for source in sources.values() if source in percent}
    rest = 100 - math.fsum(named.values())
    parts: dict[str, float] = {}
    for key, source in sources.items():
        beside = [other for other, own in sources.items() if _together(own, source, named)]
        # Relative to the largest, because weights may be extremely large or small floats.
        largest = max(weights[other] for other in beside)
        whole = math.fsum(weights[other] / largest for other in beside)
        part = max(named.get(source, rest), _NEXT_TO_NOTHING)
        parts[key] = part * (weights[key] / largest / whole)
    return parts


def _together(one: str, other: str, named: Mapping[str, float]) -> bool:
    """Whether two sources' sections share one part of the budget."""
    return one == other if other in named else one not in named


def shares(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Split `total` tokens in proportion to the weights.

    Each share is within one token of proportional, and the sum is exactly `total`. Tokens left
    by rounding go to the largest remainders; ties are resolved by key, so that the split does
    not depend on the order.

    Args:
        weights: key -> weight, each at least 0; if all are 0, all shares are 0.
        total: tokens, at least 0.
    """
    return _split(_whole_numbers(weights), total)


def allotments(
    weights: Mapping[str, float], wanted: Mapping[str, int], total: int
) -> dict[str, int]:
    """Split `total` tokens by weight, limited by each key's demand.

    Tokens that a key does not want go to the others, again by weight, until none are left or
    wanted.

    Args:
        weights: key -> weight, each at least 0.
        wanted: key -> tokens, at least 0, for the same keys.
        total: tokens, at least 0.
    """
    exact = _whole_numbers(weights)
    given = dict.fromkeys(weights, 0)
    left = total
    while left > 0:
        hungry = {
            key: weight for key, weight in exact.items() if weight and given[key] < wanted[key]
        }
        if not hungry:
            break
        for key, extra in _split(hungry, left).items():
            taken = min(extra, wanted[key] - given[key])
            given[key] += taken
            left -= taken
    return given


def _whole_numbers(weights: Mapping[str, float]) -> dict[str, int]:
    """Scale weights to integers, for sums independent of order."""
    ratios = {key: weight.as_integer_ratio() for key, weight in weights.items()}
    scale = math.lcm(*(denominator for _, denominator in ratios.values()))
    return {key: top * (scale // bottom) for key, (top, bottom) in ratios.items()}


def _split(weights: Mapping[str, int], total: int) -> dict[str, int]:
    whole = sum(weights.values())
    if not whole or total <= 0:
        return dict.fromkeys(weights, 0)
    split = {key: total * weight // whole for key, weight in weights.items()}
    left = total - sum(split.values())
    by_remainder = sorted(weights, key=lambda key: (-(total * weights[key] % whole), key))
    for key in by_remainder[:left]:
        split[key] += 1
    return split
