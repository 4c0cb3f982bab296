"""One request's items on their way into a budget: as the stages have them, and as the seeds do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from contextkit.budget.fit import Fitted, fit
from contextkit.budget.pieces import Lane
from contextkit.config.settings import Config
from contextkit.models.items import ContextItem
from contextkit.models.request import ContextRequest, Recipe, Section
from contextkit.pipeline.compose import Composer
from contextkit.pipeline.format import pieces_for
from contextkit.pipeline.gather import Answer
from contextkit.pipeline.looks import Look
from contextkit.pipeline.rank import rank
from contextkit.pipeline.render import heading
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.tokens import TokenCounter, counter_for
from tests.benchmarks import seeds
from tests.benchmarks.sources import PreparedSource

__all__ = ["FitCase"]

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@frozen(kw_only=True)
class FitCase:
    """Items, weights and a budget, ready to be fitted.

    Attributes:
        lanes: for ours.
        items: for the seed's, best first.
        weights: source -> weight.
        max_tokens: the budget.
        count: what ours counts with.
        composer: what ours renders with.
    """

    lanes: Sequence[Lane]
    items: Sequence[seeds.SeedItem]
    weights: Mapping[str, float]
    max_tokens: int
    count: TokenCounter
    composer: Composer

    @classmethod
    def of(
        cls,
        by_source: Mapping[str, Sequence[ContextItem]],
        weights: Mapping[str, float],
        max_tokens: int,
        counter: str = "default",
    ) -> FitCase:
        """Rank and format the items, as an assembly does it."""
        registry = SourceRegistry(Config(), entry_points=False)
        for name, items in by_source.items():
            registry.register(PreparedSource(items, weights[name]), name)
        sections = tuple(Section(source=name) for name in by_source)
        answers = [_answer(section, by_source[section.source]) for section in sections]
        candidates = rank(answers, [registry.info(name) for name in by_source], _NOW)
        count = counter_for(counter)
        pieces = pieces_for(registry, candidates, Look(), count)
        lanes = [
            Lane(
                key=name,
                weight=weights[name],
                heading=heading(name.title(), "markdown"),
                pieces=[piece for piece in pieces if piece.candidate.section == name],
            )
            for name in by_source
        ]
        shown = {piece.candidate.item.id: piece.text for piece in pieces}
        return cls(
            lanes=lanes,
            items=[
                seeds.SeedItem(item.source, shown[item.id], item.relevance)
                for item in (piece.candidate.item for piece in pieces)
            ],
            weights=weights,
            max_tokens=max_tokens,
            count=count,
            composer=Composer(
                request=ContextRequest(query="how is it fitted?", max_tokens=max_tokens),
                recipe=Recipe(name="context", title="Context", sections=sections),
                titles={name: name.title() for name in by_source},
            ),
        )

    @property
    def wanted(self) -> int:
        """Tokens that all items together would take."""
        return sum(piece.tokens for lane in self.lanes for piece in lane.pieces)

    def ours(self) -> Fitted:
        """The fit of the product: the text with everything counted."""
        return fit(self.lanes, self.max_tokens, self.composer.text, self.count)

    def seed(self) -> str:
        """Seed 2's selection by seed 1's shares, as text."""
        shares = seeds.float_shares(self.weights, self.max_tokens)
        return seeds.assemble_markdown(seeds.select_items(self.items, shares))


def _answer(section: Section, items: Sequence[ContextItem]) -> Answer:
    more: dict[str, Any] = {"state": "ok", "milliseconds": 0.0, "breaker": "closed"}
    return Answer(section=section, items=tuple(items), **more)
