"""Runs of rows in an excerpt, and their gaps."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

_SMALL_GAP = 4
"""Rows of a gap that is kept.

The mark of a smaller gap takes about as many tokens.
"""

_SHORT = 240
"""Most characters shown to close a small gap."""

_WORD = re.compile(r"\w")
_MARK = re.compile(r"\s*(?:#|//|--|;|%|/?\*)? ?\.\.\. lines? (\d{1,9})(?:-(\d{1,9}))?(?: \*/)?")
_STARRED = re.compile(r"\s*+\*(?:[\s/]|$)")
_LINE_COMMENT = "//"
"""The comment mark of languages that have comments in `/*` and `*/` too."""


def gaps(rows: Sequence[str], shown: Collection[int]) -> list[range]:
    """Return the runs of rows that are not shown."""
    ends = [-1, *sorted(shown), len(rows)]
    return [range(one + 1, other) for one, other in pairwise(ends) if one + 1 < other]


def with_small_gaps(rows: Sequence[str], shown: frozenset[int]) -> frozenset[int]:
    """Add rows of small gaps to the shown rows.

    These are rows between shown ones that carry no information, or are few and short.
    """
    small = []
    for gap in gaps(rows, shown):
        telling = [rows[row] for row in gap if _WORD.search(rows[row])]
        if len(telling) < _SMALL_GAP and sum(map(len, telling)) <= _SHORT:
            small.append(gap)
    return shown.union(*small)


def with_marks(
    rows: Sequence[str],
    shown: Collection[int],
    numbers: Sequence[int] | None,
    first_line: int,
    comment: str,
) -> list[str]:
    """Return the shown rows, with a comment for each gap.

    The comment says which lines are left out.

    Args:
        rows: the lines of the code.
        shown: the places of those that are shown.
        numbers: see `numbered`; None where they are not known.
        first_line: the number of the line that the code begins with.
        comment: the comment mark of the language; "" for prose and data.
    """
    lines: list[str] = []
    next_row, next_line = 0, first_line
    in_comment = False
    for row in (*sorted(shown), len(rows)):
        line = numbers[row] if numbers else next_line + row - next_row
        own = rows[row : row + 1]
        if line > next_line:
            beside = next((each for each in rows[next_row:] if each.strip()), "")
            indent = beside[: len(beside) - len(beside.lstrip())]
            if hidden := rows[next_row:row]:
                goes_on = _in_comment(in_comment, hidden)
            else:
                goes_on = any(map(_STARRED.match, own))
            sign, end = _signs(comment, in_comment, goes_on)
            lines.append(_mark(indent, sign, (next_line, line - 1) if numbers else None) + end)
            in_comment = goes_on
        lines += own
        in_comment = comment == _LINE_COMMENT and _in_comment(in_comment, own)
        next_row, next_line = row + 1, line + 1
    return lines


def _in_comment(before: bool, rows: Sequence[str]) -> bool:
    """Return whether a comment that ends with `*/` is open behind some rows."""
    for row in rows:
        text = row.strip()
        if before or text.startswith("/*"):
            before = "*/" not in text.removeprefix("/*")
    return before


def _signs(comment: str, before: bool, behind: bool) -> tuple[str, str]:
    """Return what a mark begins and ends with.

    A gap may begin within a comment, end within one, or both.
    """
    if comment != _LINE_COMMENT or not (before or behind):
        return comment, ""
    return "*" if before else "/*", "" if behind else " */"


def _mark(indent: str, comment: str, places: tuple[int, int] | None) -> str:
    sign = f"{indent}{comment} ..." if comment else f"{indent}..."
    if places is None:
        return sign
    first, last = places
    return f"{sign} lines {first}-{last}" if first < last else f"{sign} line {first}"


def numbered(
    rows: Sequence[str], first: int, last: int
) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
    """Return the rows without gap marks, and each row's number.

    Args:
        rows: the lines of an excerpt.
        first: the number of the first line of the whole.
        last: that of its last line.

    Returns:
        The rows; their numbers, with that of the line behind the last row's; None where marks
        and rows together are not these lines.
    """
    line, kept, numbers = first, [], []
    for row in rows:
        marked = _MARK.fullmatch(row)
        if marked and int(marked[1]) == line:
            line = int(marked[2] or marked[1]) + 1
        else:
            kept.append(row)
            numbers.append(line)
            line += 1
    return (tuple(kept), (*numbers, line)) if line == last + 1 else None
