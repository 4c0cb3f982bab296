"""Shorten configuration to the lines that match a query."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from contextkit import ContextItem
from contextkit.models import Style
from contextkit.text import ELLIPSIS, Excerpt, Parts, signals_of

_MOST_MATCHES = 12
_MOST_BELOW = 6
"""How many lines that belong to a match are shown below it, while there is room."""

_COMMENTS = ("#", "//", ";")
_MOST_OF_A_COMMENT = 12
_MOST_OF_A_SENTENCE = 8
"""How many lines of a comment's sentence are shown before a match, and behind it."""

_SENTENCE_ENDS = (".", ":", "!", "?")

_SHORTEST_PLURAL = 4


def matching_lines(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str
) -> str | None:
    """Shorten a formatted chunk to the lines that match.

    Each stands below the lines that it belongs to: the keys above it, or its table. `...` marks
    gaps.

    Args:
        item: the chunk, its content as it was formatted.
        style: the style that it was formatted in.
        max_tokens: the most tokens of the result.
        count: text -> tokens.
        query: the query.

    Returns:
        The excerpt; None if no line matches, or the best one does not fit.
    """
    parts = Parts.of(item.content, style)
    if parts is None or parts.has_elements:
        return None
    rows, tail = parts.body.split("\n"), parts.end("")
    shown: set[int] = set()
    excerpt = ""

    def add(more: Collection[int]) -> bool:
        nonlocal shown, excerpt
        text = f"{parts.head}{_joined(rows, shown.union(more))}{tail}"
        if count(text) > max_tokens:
            return False
        shown, excerpt = shown.union(more), text
        return True

    matches = [row for row in _best_first(rows, query) if add({row, *_above(rows, row)})]
    for row in matches:
        for below in _below(rows, row):
            if not add(below):
                break
    return Excerpt(excerpt) if excerpt else None


def _best_first(rows: Sequence[str], query: str) -> list[int]:
    """Return the best of the rows that have words of the query; rare words count more."""
    lowered = [row.lower() for row in rows]
    worth = [0.0] * len(rows)
    for stem in _stems(query):
        having = [place for place, row in enumerate(lowered) if stem in row]
        for place in having:
            worth[place] += math.log1p(len(rows) / len(having))
    places = [place for place, value in enumerate(worth) if value]
    return sorted(places, key=lambda place: (-worth[place], place))[:_MOST_MATCHES]


@lru_cache(maxsize=4)
def _stems(query: str) -> Sequence[str]:
    """Return the query's words without their plural; one query shortens several chunks."""
    return sorted(
        {
            word[:-1] if word.endswith("s") and len(word) >= _SHORTEST_PLURAL else word
            for word in signals_of(query).keywords
        }
    )


def _above(rows: Sequence[str], place: int) -> set[int]:
    """Return the comment above a row, and the rows that it belongs to: outer keys, or its table.

    Within a comment, return the rest of the row's sentence instead of the comment above.
    """
    depth = _depth(rows[place])
    above = place - 1
    while above >= 0 and _is_comment(rows[above]):
        above -= 1
    if _is_comment(rows[place]):
        found = _sentence(rows, place)
    else:
        found = set(range(max(above + 1, place - _MOST_OF_A_COMMENT), place))
    for outer in range(above, -1, -1):
        if rows[outer].strip() and _depth(rows[outer]) < depth:
            found.add(outer)
            depth = _depth(rows[outer])
        elif depth == 0 and rows[outer].startswith("["):
            return {*found, outer}
    return found


def _below(rows: Sequence[str], place: int) -> Sequence[Collection[int]]:
    """Return the rows that belong to a row, with the bracket that closes them.

    Below a row of a comment these are the next sentences of its paragraph, and a setting. The rows
    of a sentence are shown together.
    """
    found: list[Collection[int]] = []
    depth = _depth(rows[place])
    for below in range(place + 1, min(place + 1 + _MOST_BELOW, len(rows))):
        if _is_comment(rows[place]):
            if not _words(rows[below]):
                break
            found.append(_sentence(rows, below))
            if not _is_comment(rows[below]):
                break
        elif rows[below].strip() and _depth(rows[below]) <= depth:
            closes = _depth(rows[below]) == depth and rows[below].lstrip()[0] in "]})"
            return [*found, {below}] if closes and found else found
        else:
            found.append({below})
    return found


def _sentence(rows: Sequence[str], place: int) -> set[int]:
    """Return the rows of a sentence in a comment, given one of them; any other row alone."""
    if not _is_comment(rows[place]):
        return {place}
    first = last = place
    while place - first < _MOST_OF_A_SENTENCE and first > 0 and _goes_on(rows, first - 1):
        first -= 1
    while last - place < _MOST_OF_A_SENTENCE and _goes_on(rows, last):
        last += 1
    return set(range(first, last + 1))


def _goes_on(rows: Sequence[str], place: int) -> bool:
    """Return whether a row of a comment ends within a sentence that goes on in the next one."""
    if place + 1 >= len(rows) or not all(map(_is_comment, rows[place : place + 2])):
        return False
    words = _words(rows[place])
    return bool(words and _words(rows[place + 1])) and not words.endswith(_SENTENCE_ENDS)


def _is_comment(row: str) -> bool:
    return row.lstrip().startswith(_COMMENTS)


def _words(row: str) -> str:
    """Return a row without the mark of a comment; "" where only the mark is there."""
    return row.strip().lstrip("#/;").strip()


def _depth(row: str) -> int:
    return len(row) - len(row.lstrip())


def _joined(rows: Sequence[str], shown: Collection[int]) -> str:
    """Join rows, with an ellipsis for each gap."""
    lines, last = [], -1
    for place in sorted(shown):
        if any(rows[skipped].strip() for skipped in range(last + 1, place)):
            lines.append(ELLIPSIS)
        elif lines and place > last + 1:
            lines.append("")
        lines.append(rows[place])
        last = place
    return "\n".join([*lines, ELLIPSIS] if last < len(rows) - 1 else lines)
