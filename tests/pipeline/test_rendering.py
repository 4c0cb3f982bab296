"""Rendering: the seed's layout, and content that stays content in each style."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from hypothesis import given, settings, strategies as st

from contextkit import ContextItem
from contextkit.budget.pieces import Piece
from contextkit.models.candidate import Candidate, Scores
from contextkit.models.items import Style
from contextkit.pipeline.format import pieces_for
from contextkit.pipeline.looks import Look
from contextkit.pipeline.render import Document, RenderedSection, render
from contextkit.plugin.manager import SourceRegistry
from contextkit.text.clean import legible, visible
from contextkit.text.markup import fenced
from contextkit.text.tokens import counter_for

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80) | st.text(
    st.sampled_from(list("#`~-=_*+>|<[]()!&:1. \t\n\r\u2028ab'\"")), max_size=60
)

DOCUMENT = Document(
    title="Context",
    sections=[
        RenderedSection(
            "Memories", ["**Memory**: tabs, never spaces", "**Memory**: ships on Monday"]
        ),
        RenderedSection("Code", [fenced("def share(): ...", "python")]),
    ],
    footer="*3 items from 2 sources*",
)


def pieces(items: Sequence[ContextItem], style: Style) -> list[Piece]:
    """Items in the default format, ready to be placed."""
    registry = SourceRegistry(entry_points=False)
    scores = Scores(relevance=0.5, match=0.5, salience=0.5, recency=0.5, priority=0.5)
    candidates = [Candidate(item=item, section=item.source, scores=scores) for item in items]
    return pieces_for(registry, candidates, Look(style), counter_for("default"))


def texts(items: Sequence[ContextItem], style: Style) -> list[str]:
    """Items' texts in the default format."""
    return [piece.text for piece in pieces(items, style)]


def test_markdown_is_laid_out_as_in_the_seed() -> None:
    """Title, a heading for each section, items apart by a blank line, a rule and the count."""
    assert (
        render(DOCUMENT, "markdown")
        == """\
# Context

## Memories

**Memory**: tabs, never spaces

**Memory**: ships on Monday

## Code

```python
def share(): ...
```

---
*3 items from 2 sources*"""
    )


def test_plain_text() -> None:
    """No Markdown, the same order."""
    document = Document(
        title="Context", sections=[RenderedSection("Memories", ["tabs"])], footer="*1 item*"
    )
    assert render(document, "plain") == "=== Context ===\n\n--- Memories ---\n\ntabs\n\n1 item"


def test_xml() -> None:
    """Sections as elements, titles as attributes."""
    document = Document(
        title="A & B", sections=[RenderedSection("C < D", ["<item/>"])], footer="*1 < 2*"
    )
    assert render(document, "xml") == (
        '<context title="A &amp; B">\n'
        '<section name="C &lt; D">\n'
        "<item/>\n"
        "</section>\n"
        "<footer>1 &lt; 2</footer>\n"
        "</context>"
    )


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=3), ANY_TEXT)
@settings(max_examples=150)
def test_any_content_is_xml(drawn: list[tuple[str, str]], title: str) -> None:
    """A parser reads back what the items say."""
    items = [ContextItem("tide", content, 0.5, title=name, id="1") for content, name in drawn]
    sections = [RenderedSection(title, texts(items, "xml"))]
    document = Document(title=title, sections=sections, footer=f"*{title}*")
    root = ET.fromstring(render(document, "xml"))  # noqa: S314
    entities = root.findall("./section/entity")
    assert len(entities) == len(drawn)
    for entity, item in zip(entities, items, strict=True):
        assert (entity.text or "") == f"\n{visible(legible(item.content))}\n"
        assert entity.get("type") == "tide"
