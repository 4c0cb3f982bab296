"""What is rendered: sections of item texts between a title and a footer."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextkit.formatted import ContextSource

__all__ = ["MOST_SOURCES", "Document", "RenderedSection"]

MOST_SOURCES = 10
"""How many items a list of sources has at most (seed 4)."""


@frozen
class RenderedSection:
    """A section's heading and the texts of its items, formatted for the style."""

    title: str
    texts: Sequence[str]


@frozen(kw_only=True)
class Document:
    """A whole context, before it is one text.

    Attributes:
        title: the text's heading.
        sections: those with items, in order.
        footer: the last line, Markdown, or ""; other styles drop its emphasis.
        sources: where items come from, best first, or nothing for no list of them.
        guard: whether the text stands between delimiters that it cannot close.
        one_line_items: whether items stand in consecutive lines.
    """

    title: str
    sections: Sequence[RenderedSection]
    footer: str
    sources: Sequence[ContextSource] = ()
    guard: bool = False
    one_line_items: bool = False

    @property
    def listed_sources(self) -> Sequence[ContextSource]:
        """The sources that the list names."""
        return self.sources[:MOST_SOURCES]
