"""How much of a question each item answers, by one measure for every source.

A source's own relevance says how its items compare with each other. It does not say how they
compare with another source's: a commit's subject of six words that shares two with a question
scores about as high as the function that answers it. Evidence does: it is the share of the
question's subject that an item has, and a word counts by how rare it is among everything that
was found, wherever it was found. An item's length does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from contextkit.ranking.scoring import Candidate
from contextkit.signals.reading import subject_stems

__all__ = ["coverage_of", "evidence_of"]

_BEST = 3
"""A section's evidence is the mean of so many of its items: one alone may be chance."""


def coverage_of(query: str, candidates: Sequence[Candidate]) -> list[float]:
    """Compute the share of the query's subject that each candidate has, 0..1.

    Args:
        query: what is asked.
        candidates: everything that was found for it; a word that few of them have counts more.
    """
    stems = subject_stems(query)
    items = (candidate.item for candidate in candidates)
    texts = [f"{item.title} {item.location} {item.own_text}".lower() for item in items]
    found = [[stem in text for stem in stems] for text in texts]
    rarity = [_rarity(sum(column), len(texts)) for column in zip(*found, strict=True)]
    whole = math.fsum(rarity)
    if not whole:
        return [0.0] * len(texts)
    return [
        math.fsum(value for value, has in zip(rarity, row, strict=True) if has) / whole
        for row in found
    ]


def _rarity(having: int, texts: int) -> float:
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def evidence_of(coverages: Sequence[float]) -> float:
    """Compute a section's evidence from the coverage of its items, 0..1."""
    best = sorted(coverages, reverse=True)[:_BEST]
    return math.fsum(best) / len(best) if best else 0.0
