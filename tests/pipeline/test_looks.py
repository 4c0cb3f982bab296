"""The text of an item whose source has no format of its own, in each style and detail."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from contextkit import ContextItem
from contextkit.models.items import STYLES, Style
from contextkit.pipeline.looks import Look, default_text

ITEM = ContextItem(
    "tide",
    "High water\nat noon.\n\n# Not a heading & more",
    0.5,
    id="1",
    title="Noon",
    kind="report",
    location="tide.txt:3",
)
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


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


@given(ANY_TEXT, st.none() | ANY_TEXT, st.sampled_from(STYLES))
def test_a_compact_item_is_one_line(content: str, location: str | None, style: Style) -> None:
    """Whatever stands in it, and it is one block of its style."""
    item = ContextItem("tide", content, 0.5, id="1", location=location)
    text = default_text(item, Look(style, "compact"))
    assert len(text.splitlines()) <= 1
    if style == "markdown":
        blocks = [token.type for token in MarkdownIt().parse(f"{text}\n- end") if token.level == 1]
        assert blocks == ["list_item_open", "list_item_close"] * 2
    if style == "xml":
        assert ET.fromstring(text).tag == "entity"  # noqa: S314 - our own text
