"""Candidate items, with the components of their scores."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from contextkit.models.items import ContextItem
from contextkit.models.strategy import DEFAULT, Strategy


def supported(value: float, support: float) -> float:
    """Raise a value by its neighbours' support, to at most 1."""
    return value if support == 0 else 1 - (1 - value) * (1 - support)


@frozen(kw_only=True)
class Scores:
    """The components of a score, each 0..1, and their weights.

    Attributes:
        relevance: the relevance from the source.
        match: the relevance on the scale common to all sources.
        salience, recency, priority: the other components.
        strategy: the weights.
        history: how often and how recently the item was used.
        decay: the factor for its age.
        support: support from its neighbours in a sequence.
        hint: further evidence for the item, from its source.
        redundancy: its resemblance to a better item; only with `diversity`.
        diversity: the weight of redundancy, 0..1.
        lifted: the score that it inherits from a higher-ranked item that it updates, or None.
        score: the weighted mean of the components times the decay, 0..1.
        rank_by: sorts candidates: the score, reduced by redundancy; -1..1. An update ranks no
            lower than the item that it supersedes.
    """

    relevance: float
    match: float
    salience: float
    recency: float
    priority: float
    strategy: Strategy = field(default=DEFAULT, repr=False)
    history: float = 0.0
    decay: float = 1.0
    support: float = 0.0
    hint: float = 0.0
    rerank: float | None = None
    redundancy: float = 0.0
    diversity: float = 0.0
    lifted: float | None = None

    # Candidates are sorted in every stage, so these are computed once.
    score: float = field(init=False, eq=False, repr=False)
    rank_by: float = field(init=False, eq=False, repr=False)

    @score.default
    def _score(self) -> float:
        weights = self.strategy
        match = self.supported_match if self.support or self.hint else self.match
        total = (
            weights.relevance * match
            + weights.salience * self.salience
            + weights.recency * self.recency
            + weights.priority * self.priority
            + weights.history * self.history
        )
        return total / weights.whole * self.decay

    @property
    def supported_match(self) -> float:
        """The match, raised by neighbours and the source's hint, 0..1."""
        return supported(supported(self.match, self.support), self.hint)

    @property
    def before_diversity(self) -> float:
        """The reranker's score, or else the score."""
        return self.score if self.rerank is None else self.rerank

    @rank_by.default
    def _rank_by(self) -> float:
        own = self.before_diversity
        if self.diversity:
            own = (1 - self.diversity) * own - self.diversity * self.redundancy
        return own if self.lifted is None else max(own, self.lifted)

    def as_dict(self) -> Mapping[str, float]:
        """All components by name, for the trace."""
        found = {
            "relevance": self.relevance,
            "match": self.match,
            "salience": self.salience,
            "recency": self.recency,
            "priority": self.priority,
            "score": self.score,
        }
        if self.strategy.history:
            found["history"] = self.history
        if self.strategy.decay != 1:
            found["decay"] = self.decay
        if self.support:
            found["support"] = self.support
        if self.hint:
            found["hint"] = self.hint
        if self.rerank is not None:
            found["rerank"] = self.rerank
        if self.diversity:
            found["redundancy"] = self.redundancy
        if self.diversity or self.lifted is not None:
            found["rank_by"] = self.rank_by
        return {name: round(value, 6) for name, value in found.items()}


@frozen(kw_only=True)
class Candidate:
    """An item that may become part of the context.

    Attributes:
        item: the item.
        section: the key of its section.
        scores: the components of its score.
        updates: the number of other items that supersede it.
        order: sorts candidates best first, independent of their original order.
    """

    item: ContextItem
    section: str
    scores: Scores
    updates: int = 0
    order: tuple[float, int, float, str, str] = field(init=False, eq=False, repr=False)

    @order.default
    def _order(self) -> tuple[float, int, float, str, str]:
        scores, item = self.scores, self.item
        return (-scores.rank_by, self.updates, -scores.priority, item.source, item.id)

    @property
    def relevance(self) -> float:
        """The source's relevance with the neighbours' support, 0..1."""
        return supported(self.item.relevance, self.scores.support)
