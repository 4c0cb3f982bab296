"""Which lines of a unit's code say most: signature, docstring, what stands above, the body."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["rows_by_worth"]

_WORD = re.compile(r"\w")
_TELLING_LINES = 3
"""So many of a docstring's lines tell where in the code it stands."""


def rows_by_worth(
    rows: Sequence[str], signature: Sequence[str], docstring: Sequence[str]
) -> list[int]:
    """The numbers of the rows of a unit's code, those that say most first.

    Args:
        rows: the code.
        signature: the lines of the unit's signature; what of it is not in the code is
            not looked for any further.
        docstring: the lines of its docstring, without the marks that they have in the code.

    Returns:
        The signature's rows, the docstring's (it may stand above or below), and all
        others, each in their order.
    """
    header = _signature_rows(rows, signature)
    first = [*header, *_docstring_rows(rows, docstring, header)]
    known = set(first)
    return [*first, *(row for row in range(len(rows)) if row not in known)]


def _signature_rows(rows: Sequence[str], signature: Sequence[str]) -> range:
    wanted = signature[0].strip() if signature else ""
    for number, row in enumerate(rows):
        if wanted and row.strip().startswith(wanted):
            return range(number, min(number + len(signature), len(rows)))
    return range(0)


def _docstring_rows(rows: Sequence[str], docstring: Sequence[str], header: range) -> range:
    """Its rows with the marks around it; none where it is not found."""
    lines = [line.strip() for line in docstring if line.strip()]
    telling = lines[:_TELLING_LINES]
    candidates = [
        (_matching(rows, number, telling)[1], number)
        for number in (*range(header.stop, len(rows)), *range(header.start))
        if lines and lines[0] in rows[number]
    ]
    # Of equals the first: a docstring below the signature goes before a comment above it.
    matched, start = max(candidates, key=lambda found: found[0], default=(0, 0))
    if matched < len(telling) or not lines:
        return range(0)
    end = _matching(rows, start, lines)[0]
    if start > header.stop or 0 < start < header.start:
        start -= _is_mark(rows[start - 1])
    if end < len(rows) and end not in header:
        end += _is_mark(rows[end])
    return range(start, end)


def _matching(rows: Sequence[str], start: int, lines: Sequence[str]) -> tuple[int, int]:
    """Where the rows from `start` on no longer follow the lines, and how many they followed."""
    matched = 0
    for row in range(start, len(rows)):
        if matched == len(lines):
            return row, matched
        if lines[matched] in rows[row]:
            matched += 1
        elif _WORD.search(rows[row]):
            return row, matched
    return len(rows), matched


def _is_mark(row: str) -> bool:
    """Whether a row has nothing but quotes or the marks of a comment."""
    return bool(row.strip()) and not _WORD.search(row)
