"""Splitting a token budget: integer shares by weight, by largest remainder.

The weights may follow percentages of a strategy, see `by_percent`, and what was found for the
question, see `by_match`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

__all__ = ["allotments", "by_match", "by_percent", "shares"]

_NEXT_TO_NOTHING = 1e-6
"""The weight of what has no percent of its own: it is given no token but what others leave."""

_STEEPNESS = 16
"""How fast a match counts less than the best beside it: at 0.9 of that it counts 0.2."""

_MOST_RIVALS = 8.0
"""No source's weight grows to more than so many times, so that no other's vanishes."""


def by_match(
    weights: Mapping[str, float], matches: Mapping[str, Sequence[float]]
) -> dict[str, float]:
    """The weights, larger where many items match about as well as the best of them.

    Where one item stands out it is the answer, and its section needs room for little more.
    Where several are level any of them may be the answer, and the section needs room for all
    of those. A weight grows to at most eight times itself and never shrinks, so every share
    stays at least an eighth of what it is without this, and a weight of 0 stays 0.

    Args:
        weights: key -> weight, each at least 0.
        matches: key -> the matches of what was found for it, each 0..1, in any order; a key
            that is not there has none, and keeps its weight.
    """
    return {
        key: min(weight * _rivals(matches.get(key, ())), sys.float_info.max)
        for key, weight in weights.items()
    }


def _rivals(matches: Sequence[float]) -> float:
    """How many are about as good as the best of them, itself counted: 1 to `_MOST_RIVALS`."""
    best = max(matches, default=0.0)
    if best <= 0:
        return 1.0
    return min(_MOST_RIVALS, sum((match / best) ** _STEEPNESS for match in sorted(matches)))


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
        weights: key -> weight, each over 0.
        total: tokens, at least 0.
    """
    return _split(_whole_numbers(weights), total)


def allotments(
    weights: Mapping[str, float], wanted: Mapping[str, int], total: int
) -> dict[str, int]:
    """Split `total` tokens by weight, nobody getting more than is wanted.

    What one leaves goes to those that want more, by weight again, until all of it is
    given or nobody wants any.

    Args:
        weights: key -> weight, each over 0.
        wanted: key -> tokens, at least 0, for the same keys.
        total: tokens, at least 0.
    """
    exact = _whole_numbers(weights)
    given = dict.fromkeys(weights, 0)
    left = total
    while left > 0:
        hungry = {key: weight for key, weight in exact.items() if given[key] < wanted[key]}
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
    if not weights or total <= 0:
        return dict.fromkeys(weights, 0)
    split = {key: total * weight // whole for key, weight in weights.items()}
    left = total - sum(split.values())
    by_remainder = sorted(weights, key=lambda key: (-(total * weights[key] % whole), key))
    for key in by_remainder[:left]:
        split[key] += 1
    return split
