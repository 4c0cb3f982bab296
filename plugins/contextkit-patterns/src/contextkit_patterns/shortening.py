"""Shortening a pattern: what is said of it goes first, its last steps then."""

from __future__ import annotations

import re
from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models import Style

__all__ = ["shortened"]

_STEP = re.compile(r"\s*\d+\. ")
_NOTE = "(truncated, see full at {place})"


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
        Its name and all steps, where they fit; else its first steps, at least half of them,
        and a note; else name and note, as fewer steps would mislead; "" where not even these
        fit; None for an XML element, and for a text of another shape.
    """
    lines = item.content.split("\n")
    first = next((row for row, line in enumerate(lines) if _STEP.match(line)), 0)
    if style == "xml" or not first:
        return None
    between = [""] if style == "markdown" else []
    head, steps = [lines[0], *between], lines[first:]
    whole = "\n".join([*head, *steps])
    if count(whole) <= max_tokens:
        return whole
    note = _NOTE.format(place=item.location or item.id)
    note = f"*{note}*" if style == "markdown" else note
    for kept in range(len(steps) - 1, (len(steps) - 1) // 2, -1):
        text = "\n".join([*head, *steps[:kept], "...", "", note])
        if count(text) <= max_tokens:
            return text
    named = "\n".join([*head, note])
    return named if count(named) <= max_tokens else ""
