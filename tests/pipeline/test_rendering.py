"""Rendering: the seed's layout, and content that stays content in each style."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import Style
from contextkit.pipeline.format import pieces_for
from contextkit.pipeline.looks import Look, default_text
from contextkit.pipeline.render import Document, RenderedSection, render
from contextkit.text.clean import legible, visible
from contextkit.text.markup import fenced
from contextkit.text.tokens import counter_for
from tests.making import make_candidate, make_registry

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


def texts(items: Sequence[ContextItem], style: Style) -> list[str]:
    """Items' texts in the default format."""
    candidates = [make_candidate(item) for item in items]
    count = counter_for("default")
    return [piece.text for piece in pieces_for(make_registry(), candidates, Look(style), count)]


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


@pytest.mark.parametrize(
    "title", ["a\n# b", "a\n---\n", "a\u2028## b", "a\r\n\r\n## b", "`a`\n```"]
)
def test_a_title_stays_on_its_line(title: str) -> None:
    """The context's and a section's: neither can make another heading."""
    document = Document(title=title, sections=[RenderedSection(title, ["text"])], footer="*1 item*")
    tokens = MarkdownIt().parse(render(document, "markdown"))
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2"]


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


ITEM = ContextItem(
    "tide",
    "High water\nat noon.\n\n# Not a heading & more",
    0.5,
    id="1",
    title="Noon",
    kind="report",
    location="tide.txt:3",
)


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (Look("markdown", "full"), "High water\nat noon.\n\n\\# Not a heading & more"),
        (Look("markdown", "summary"), "High water\nat noon."),
        (
            Look("markdown", "compact"),
            "- High water at noon. # Not a heading & more (`tide.txt:3`)",
        ),
        (Look("plain", "summary"), "Noon [tide.txt:3]\nHigh water\nat noon."),
        (Look("plain", "compact"), "High water at noon. # Not a heading & more (tide.txt:3)"),
        (
            Look("xml", "summary"),
            '<entity name="Noon" type="report">\nHigh water\nat noon.\n</entity>',
        ),
        (
            Look("xml", "compact"),
            '<entity name="Noon" type="report">'
            "High water at noon. # Not a heading &amp; more</entity>",
        ),
    ],
)
def test_the_default_text_of_each_look(look: Look, expected: str) -> None:
    """All of it, its first paragraph, or one line."""
    assert default_text(ITEM, look) == expected
