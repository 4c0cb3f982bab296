"""Ways to split a budget over the sources: fixed weights, and weights that follow the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from contextkit.models.trace import ItemTrace
from tests.benchmarks.texts import SOURCES

__all__ = ["BY_EVIDENCE", "EQUAL", "FIXED", "FOLLOWING", "SEEDS", "Follow", "sections_with"]

Weights = Mapping[str, float]
Follow = Callable[[Sequence[ItemTrace]], Weights]
"""From the candidates of a question to the weights that it is answered with."""

_NOTHING = 0.01
_FALL = 16


def _weights(
    memories: float, code: float, experiences: float, values: float, commits: float
) -> Weights:
    return dict(zip(SOURCES, (memories, code, experiences, values, commits), strict=True))


SEEDS = _weights(1, 2, 3, 1, 2)
EQUAL = _weights(1, 1, 1, 1, 1)
FIXED: Mapping[str, Weights] = {
    "the seeds' weights (memories 1, code 2, experiences 3, values 1, commits 2)": SEEDS,
    "equal shares": EQUAL,
    "2/4/2/1/1": _weights(2, 4, 2, 1, 1),
    "3/3/2/1/1": _weights(3, 3, 2, 1, 1),
    "3/4/2/1/1": _weights(3, 4, 2, 1, 1),
    "4/3/2/1/1": _weights(4, 3, 2, 1, 1),
    "1/3/4/1/1": _weights(1, 3, 4, 1, 1),
    "6/6/3/1/2": _weights(6, 6, 3, 1, 2),
    "6/2/1/1/1": _weights(6, 2, 1, 1, 1),
}


def _by_best(base: Weights, power: float) -> Follow:
    """A source's weight times how well its best candidate matches."""

    def follow(candidates: Sequence[ItemTrace]) -> Weights:
        matches = _matches(candidates)
        return {
            source: weight * max(_NOTHING, max(matches[source], default=0.0)) ** power
            for source, weight in base.items()
        }

    return follow


def _by_rivals(base: Weights, power: float) -> Follow:
    """A source's weight times how many of its candidates match about as well as its best."""

    def follow(candidates: Sequence[ItemTrace]) -> Weights:
        matches = _matches(candidates)
        return {
            source: weight * max(_NOTHING, _rivals(matches[source], power))
            for source, weight in base.items()
        }

    return follow


def _rivals(matches: Sequence[float], power: float) -> float:
    best = max(matches, default=0.0)
    if not best:
        return 0.0
    return sum((match / best) ** _FALL for match in matches) * float(best**power)


FOLLOWING: Mapping[str, Follow] = {
    "seeds' x best match": _by_best(SEEDS, 1),
    "seeds' x best match squared": _by_best(SEEDS, 2),
    "equal x square root of best match": _by_best(EQUAL, 0.5),
    "equal x best match": _by_best(EQUAL, 1),
    "seeds' x rivals x square root of best": _by_rivals(SEEDS, 0.5),
    "equal x rivals x square root of best": _by_rivals(EQUAL, 0.5),
}

BY_EVIDENCE: Mapping[str, Mapping[str, Any]] = {
    "shares=by_evidence": {"shares": "by_evidence", "weights": SEEDS},
    "equal weights, shares=by_evidence": {"shares": "by_evidence", "weights": EQUAL},
}
"""The split that a request can ask for: options of it."""


def sections_with(sources: frozenset[str], base: Weights) -> Weights:
    """What no product can know: next to nothing for sources that have no gold item."""
    return {name: weight if name in sources else weight / 20 for name, weight in base.items()}


def _matches(candidates: Sequence[ItemTrace]) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for candidate in candidates:
        if candidate.verdict not in {"below_floor", "duplicate"}:
            found[candidate.source].append(candidate.scores["match"])
    return found
