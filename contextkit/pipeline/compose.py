"""Compose placed pieces in the order that the request sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, field, frozen

from contextkit.budget.pieces import Placed
from contextkit.models.context import ContextSource
from contextkit.models.request import ContextRequest, Recipe, Section
from contextkit.pipeline.render import (
    GROUPS,
    Document,
    RenderedSection,
    group_of,
    render,
    source_list,
)

ADDITIONAL_TITLE = "Additional Context"
"""The heading of the host's own text."""

_Placed = Mapping[str, Sequence[Placed]]


@frozen(kw_only=True)
class Composer:
    """Composes one request's texts.

    Attributes:
        request: says how the text looks.
        recipe: its title and footer, and the order of its sections.
        titles: section -> its heading.
        precedence: section -> how well it answers, for recipes whose best section comes first;
            of equal ones the best item counts.
        include_sources: whether there is a list of sources.
        additional: the host's own text, ready to be shown as the last section; "" for none.
    """

    request: ContextRequest
    recipe: Recipe
    titles: Mapping[str, str]
    precedence: Mapping[str, float] = field(factory=dict)
    include_sources: bool = False
    additional: str = ""

    def without_sources(self) -> Composer:
        """Return the same composer without the list of sources."""
        return evolve(self, include_sources=False)

    def text(self, placed: _Placed) -> str:
        """Compose the whole text; empty if there are no pieces."""
        return render(self._document(placed), self.request.style)

    def source_list(self, placed: _Placed) -> str:
        """Compose the list of sources alone."""
        return source_list(self._document(placed), self.request.style)

    def in_order(self, placed: _Placed) -> list[Placed]:
        """Sort placed pieces into the order of the text."""
        return [entry for _, entries in self._parts(placed) for entry in entries]

    def _document(self, placed: _Placed) -> Document:
        parts = self._parts(placed)
        return Document(
            title=self.recipe.title,
            sections=[
                *(
                    RenderedSection(title, [entry.text for entry in entries])
                    for title, entries in parts
                ),
                *(
                    [RenderedSection(ADDITIONAL_TITLE, [self.additional])]
                    if self.additional
                    else ()
                ),
            ],
            footer=self._footer(placed),
            sources=self._sources(parts) if self.include_sources else (),
            guard=self.request.guard,
            one_line_items=self.request.detail == "compact",
        )

    def _parts(self, placed: _Placed) -> list[tuple[str, Sequence[Placed]]]:
        """Pair each heading with its placed pieces."""
        if self.request.group_by == "source":
            keys = [section.key for section in self.recipe.sections if placed.get(section.key)]
            if self.recipe.best_first:
                keys.sort(
                    key=lambda key: (
                        -self.precedence.get(key, 0.0),
                        min(entry.piece.candidate.order for entry in placed[key]),
                    )
                )
            return [(self.titles[key], placed[key]) for key in keys]
        every = sorted(
            (entry for entries in placed.values() for entry in entries),
            key=lambda entry: entry.piece.candidate.order,
        )
        parts = {
            group: [e for e in every if group_of(e.piece.candidate.item.kind) == group]
            for group in GROUPS
        }
        return [(GROUPS[group], entries) for group, entries in parts.items() if entries]

    @staticmethod
    def _sources(parts: Iterable[tuple[str, Sequence[Placed]]]) -> list[ContextSource]:
        candidates = [entry.piece.candidate for _, entries in parts for entry in entries]
        best_first = sorted(candidates, key=lambda candidate: candidate.order)
        return [ContextSource.of(candidate.item) for candidate in best_first]

    def _footer(self, placed: _Placed) -> str:
        by_key: Mapping[str, Section] = {section.key: section for section in self.recipe.sections}
        counts: Counter[str] = Counter()
        for key, entries in placed.items():
            counts[by_key[key].source] += len(entries)
        used = [source for source, count in counts.items() if count]
        s = defaultdict(lambda: "s", {source: "" for source in used if counts[source] == 1})
        return self.recipe.footer.format(
            items=counts.total(), sources=len(used), counts=counts, s=s
        )
