"""From candidates to scores: relevance first, with small boosts for what else is known.

`score = (relevance + 0.10 salience + 0.05 recency) / 1.15`, each 0..1. The boosts decide
between items that match about equally well, as seed 1 has it, and never carry a bad match
past a good one. Recency is a true half-life: `0.5 ** (age / half_life)`; an item without
a date, or without salience, gets the neutral 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attrs import field, frozen

from contextkit.gather import Answer
from contextkit.models import ContextItem

__all__ = ["Candidate", "Scores", "rank"]

SALIENCE_BOOST = 0.10
RECENCY_BOOST = 0.05
HALF_LIFE_DAYS = 30.0
_NEUTRAL = 0.5
_SECONDS_PER_DAY = 86_400.0


@frozen(kw_only=True)
class Scores:
    """The components of a score, each 0..1."""

    relevance: float
    salience: float
    recency: float

    @property
    def score(self) -> float:
        """Their weighted sum, 0..1."""
        boosted = self.relevance + SALIENCE_BOOST * self.salience + RECENCY_BOOST * self.recency
        return boosted / (1 + SALIENCE_BOOST + RECENCY_BOOST)


@frozen(kw_only=True)
class Candidate:
    """An item on its way into the context.

    Attributes:
        item: the item.
        section: the key of the section it was found for.
        scores: what its score is made of.
        priority: its source's priority; breaks ties.
    """

    item: ContextItem
    section: str
    scores: Scores
    priority: int = field(default=50)

    @property
    def order(self) -> tuple[float, int, str, str]:
        """Sorts candidates best first, the same way whatever order they came in."""
        return (-self.scores.score, -self.priority, self.item.source, self.item.id)


def rank(answers: Sequence[Answer], priorities: Sequence[int], now: datetime) -> list[Candidate]:
    """Score every item of every answer, best first.

    Args:
        answers: one per section.
        priorities: the priority of each answer's source.
        now: what ages are counted to; aware.
    """
    candidates = [
        Candidate(
            item=item,
            section=answer.section.key,
            scores=_scores(item, now),
            priority=priority,
        )
        for answer, priority in zip(answers, priorities, strict=True)
        for item in answer.items
    ]
    return sorted(candidates, key=lambda candidate: candidate.order)


def _scores(item: ContextItem, now: datetime) -> Scores:
    return Scores(
        relevance=item.relevance,
        salience=_NEUTRAL if item.salience is None else item.salience,
        recency=_NEUTRAL if item.created_at is None else recency(item.created_at, now),
    )


def recency(created_at: datetime, now: datetime, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """1 for now, half of that for each half-life that has passed; the future counts as now."""
    age = max(0.0, (now - created_at).total_seconds()) / _SECONDS_PER_DAY
    return float(0.5 ** (age / half_life_days))
