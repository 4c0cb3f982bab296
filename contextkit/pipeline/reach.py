"""The best results, among which a context finds what it shows.

A search finds more than fits: of a hundred results a context of 2,000 tokens shows sixteen. Only
the results within reach are compared with each other and formatted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from contextkit.budget.shares import shares
from contextkit.models.candidate import Candidate
from contextkit.models.items import ContextItem

_TIMES = 2
"""The results within reach would fill the budget twice, as some are duplicates or too long.

With one and a half times, `sweqa` within 2,000 tokens falls from .740 to .736, with once to .706.
"""

_LEAST_TOKENS = 500
"""A smaller budget has the reach of this one: its best results may be too long for it."""

_CHARACTERS = 4
"""Characters of a token."""

_MOST_CHARACTERS = 500
"""Characters of an item that count: a longer one is shown as an excerpt."""


@frozen
class Reach:
    """The room that the best results are taken for.

    Attributes:
        max_tokens: the budget.
        weights: section -> its weight in the budget.
    """

    max_tokens: int
    weights: Mapping[str, float]

    @property
    def reason(self) -> str:
        """Explain why a result is out of reach."""
        return f"better results would fill the budget of {self.max_tokens:,} tokens twice"

    def split(
        self, candidates: Sequence[Candidate], linked: Collection[tuple[str, str]] = ()
    ) -> tuple[list[Candidate], list[Candidate]]:
        """Split candidates into those within reach and the rest.

        Each section has its own best results within reach, for its share of the budget.

        Args:
            candidates: best first.
            linked: (section, id) of items that are always within reach.
        """
        left = _TIMES * _CHARACTERS * max(self.max_tokens, _LEAST_TOKENS)
        own = shares(self.weights, left)
        near, far = list[Candidate](), list[Candidate]()
        for candidate in candidates:
            section, item = candidate.section, candidate.item
            is_near = left > 0 or own[section] > 0 or (section, item.id) in linked
            (near if is_near else far).append(candidate)
            left -= _length(item)
            own[section] -= _length(item)
        return near, far

    def is_filled(self, items: Sequence[ContextItem]) -> bool:
        """Check whether the items would fill the budget."""
        return sum(map(_length, items)) >= _CHARACTERS * self.max_tokens


def _length(item: ContextItem) -> int:
    return min(len(item.content), _MOST_CHARACTERS)
