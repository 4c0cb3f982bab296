"""The text of an item whose source has no format of its own, in each style and detail."""

from __future__ import annotations

import pytest

from contextkit import ContextItem
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
