"""Shortening a pattern: what is said of it goes first, its last steps then."""

from __future__ import annotations

import re
from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models.items import Style
from contextkit.text.passages import Excerpt
from contextkit.text.truncate import ELLIPSIS

__all__ = ["shortened"]

_STEP = re.compile(r"\s*\d+\. ")


def shortened(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """A formatted pattern within `max_tokens`.

    Args:
        item: the pattern, its content as it was formatted.
        style: the style that it was formatted in.
        max_tokens: what the result may take, in tokens of `count`.
        count: text -> tokens.

    Returns:
        Its name and all steps, where they fit; else its first steps, at least half of them;
        "" where these do not fit, as fewer would mislead; None for an XML element, and for a
        text of another shape.
    """
    lines = item.content.split("\n")
    first = next((row for row, line in enumerate(lines) if _STEP.match(line)), 0)
    if style == "xml" or not first:
        return None
    between = [""] if style == "markdown" else []
    head, steps = [lines[0], *between], lines[first:]
    whole = "\n".join([*head, *steps])
    if count(whole) <= max_tokens:
        return Excerpt(whole)
    for kept in range(len(steps) - 1, (len(steps) - 1) // 2, -1):
        text = "\n".join([*head, *steps[:kept], ELLIPSIS])
        if count(text) <= max_tokens:
            return Excerpt(text)
    return ""
