"""Shorten an event to its headline and matching lines."""

from __future__ import annotations

import re
from collections.abc import Callable

from contextkit import ContextItem
from contextkit.models import Style
from contextkit.text import Excerpt, Parts, excerpt, style_of, truncate

_LEAST_LETTERS = 28
"""Fewest letters of a shortened first line.

That is four or five words, label included.
"""

_WENT_WRONG = "error exception failed failure"
"""Words looked for in an output besides the query."""

_LABEL = re.compile(r"(?:\[[^]\n]*\] )?\w+: ")


def shortened(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten a formatted event to `max_tokens`.

    Args:
        item: the event, its content as it was formatted.
        style: the style that it was formatted in.
        max_tokens: the most tokens of the result, as counted by `count`.
        count: text -> tokens.
        query: the query that found the event.

    Returns:
        The first line with the lines of the output that match, or a message's sentences that
        do; else the first line; else its beginning, or "" where that is a moment and hardly a
        word of what happened then, or a part of a path; None for an XML element.
    """
    if style_of(style).syntax == "xml":
        return None
    text = item.content
    first, _, below = text.partition("\n")
    parts = Parts.of(text, style)
    output_query = f"{query} {_WENT_WRONG}"
    if item.kind not in {"file_read", "file_write", "shell_exec"} and not (parts and parts.tail):
        label = _LABEL.match(text)
        head = label[0] if label else ""
        if said := excerpt(text[len(head) :], query, max_tokens, count, head=head):
            return said
    elif parts and parts.tail:
        said = excerpt(
            parts.body, output_query, max_tokens, count, head=parts.head, tail=parts.tail
        )
        if said:
            return said
    elif below and (said := excerpt(below, output_query, max_tokens, count, head=f"{first}\n")):
        return said
    short = truncate(first, max_tokens, count)
    if short == first:
        return Excerpt(first)
    least = _letters(first)
    if not item.metadata.get("path"):
        least = min(_LEAST_LETTERS, least)
    return short if _letters(short) >= least else ""


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
