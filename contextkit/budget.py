"""Splitting a token budget: integer shares by weight, by largest remainder."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["shares"]


def shares(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """Split `total` tokens in proportion to the weights.

    Each share is within one token of proportional, and together they are exactly `total`.
    Tokens that rounding leaves over go to the largest remainders; ties go by key, so that
    the split does not depend on any order.

    Args:
        weights: key -> weight, each over 0.
        total: tokens, at least 0.
    """
    whole = sum(weights.values())
    if not weights or total <= 0:
        return dict.fromkeys(weights, 0)
    exact = {key: total * (weight / whole) for key, weight in weights.items()}
    split = {key: int(value) for key, value in exact.items()}
    left = total - sum(split.values())
    by_remainder = sorted(weights, key=lambda key: (split[key] - exact[key], key))
    for key in by_remainder[:left]:
        split[key] += 1
    return split
