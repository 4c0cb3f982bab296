"""Find the licence above a file's code."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LICENCE = re.compile(
    r"\b(?:copyright|licen[cs]ed?|permission is hereby|redistributions?|warranties|SPDX-)\b",
    re.IGNORECASE,
)
_ABOVE_THE_CODE = re.compile(r"\s*(?:#(?!\s*(?:if|include|define|pragma)|\[)|//|--|/?\*|;|%|$)")
_BLOCK_COMMENTS = {"/*": "*/", "<!--": "-->", "(*": "*)", "{-": "-}"}
_MOST_ABOVE = 80
"""How many rows are searched for a licence."""

_MOST_BETWEEN = 2
"""Most rows between the parts of a licence."""

_BEHIND_ITS_WORDS = 12
"""Most rows of a licence behind the last one with a word that only licences have."""


def licence_rows(lines: Sequence[str]) -> range:
    """Return the rows of the licence above the code; an empty range if there is none.

    The range begins at the licence, even within a comment that says something before it.
    """
    first = stop = least = 0
    closing = ""
    for row, line in enumerate(lines[:_MOST_ABOVE]):
        text = line.strip()
        opening = "" if closing else next(filter(text.startswith, _BLOCK_COMMENTS), "")
        is_comment = closing or opening or _ABOVE_THE_CODE.match(text)
        if not is_comment or (stop and row > stop + _MOST_BETWEEN):
            break
        if _LICENCE.search(text):
            first, stop, least = first if stop else row, row + 1, row
        elif (text or closing) and stop and row == stop <= least + _BEHIND_ITS_WORDS:
            stop = row + 1
        closing = _BLOCK_COMMENTS.get(opening, closing)
        if closing and closing in text.removeprefix(opening):
            closing = ""
    return range(first, stop)
