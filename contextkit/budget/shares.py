"""Splitting a token budget: integer shares by weight, by largest remainder.

The weights may follow percentages of a strategy, see `by_percent`, and what was found for the
question, see `by_evidence`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

_NEXT_TO_NOTHING = 1e-6
"""The weight of what has no percent of its own: it is given no token but what others leave."""

_EVIDENCE_COUNTS = 2
"""The power of evidence: half of the best evidence is worth a quarter of the room."""


def by_evidence(
    weights: Mapping[str, float], evidence: Mapping[str, float], likely: Mapping[str, float]
) -> dict[str, float]:
    """Multiply weights by how well each key answers.

    Where all have the same evidence and are as likely, the weights keep their proportions.

    Args:
        weights: key -> weight, each over 0.
        evidence: key -> how much of the question its items have, each 0..1.
        likely: key -> how likely it answers such a question, each 0..1.
    """
    best = max(evidence.values(), default=0.0) or 1.0
    return {
        key: weight * likely[key] * (evidence[key] / best) ** _EVIDENCE_COUNTS
        for key, weight in weights.items()
    }


def readable_shares(weights: Mapping[str, float], total: int, least: int) -> dict[str, int]:
    """Split `total` tokens over the keys whose share is at least `least`.

    The lightest key goes first, and what it would have had is the others', until each share
    can be read. One key always stays.

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
    """The weights by which the sections of the named sources get their percentages.

    A source's sections share its percentage by their weights, and so do those of all that
    are not named the rest of the hundred. Where everything that is asked is named, or
    nothing is, the weights keep their proportions and fill the budget. What has 0 percent
    gets what the others leave.

    Args:
        weights: section -> its weight, each over 0.
        sources: section -> the source that it asks.
        percent: source -> its part of the budget, each at least 0, at most 100 together.

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
        # As parts of the largest: weights may be as large or as small as a float can be.
        largest = max(weights[other] for other in beside)
        whole = math.fsum(weights[other] / largest for other in beside)
        part = max(named.get(source, rest), _NEXT_TO_NOTHING)
        parts[key] = part * (weights[key] / largest / whole)
    return parts


def _together(one: str, other: str, named: Mapping[str, float]) -> bool:
    """Whether the sections of two sources share one part of the budget."""
    return one == other if other in named else one not in named


def shares(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Split `total` tokens in proportion to the weights.

    Each share is within one token of proportional, and together they are exactly `total`.
    Tokens that rounding leaves over go to the largest remainders; ties go by key, so that
    the split does not depend on any order.

    Args:
        weights: key -> weight, each at least 0; all 0 gives nothing to any.
        total: tokens, at least 0.
    """
    return _split(_whole_numbers(weights), total)


def allotments(
    weights: Mapping[str, float], wanted: Mapping[str, int], total: int
) -> dict[str, int]:
    """Split `total` tokens by weight, giving no section more than it wants.

    What one leaves goes to those that want more, by weight again, until all of it is
    given or no section wants any.

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
    """The same weights as integers: sums of those do not depend on their order."""
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
