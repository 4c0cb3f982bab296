"""The runs of rows that an excerpt shows, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

_SMALL_GAP = 4
"""A gap of fewer rows is shown: its mark takes about as many tokens."""

_SHORT = 240
"""So many characters at most are shown for the sake of a small gap."""

_WORD = re.compile(r"\w")
_MARK = re.compile(r"\s*(?:#|//|--)? ?\.\.\. lines? (\d{1,9})(?:-(\d{1,9}))?")


def gaps(rows: Sequence[str], shown: Collection[int]) -> list[range]:
    """The runs of rows that are not shown, in order."""
    return list(_gaps(len(rows), shown))


def _gaps(number: int, shown: Collection[int]) -> Iterator[range]:
    next_row = 0
    for row in (*sorted(shown), number):
        if next_row < row:
            yield range(next_row, row)
        next_row = row + 1


def with_small_gaps(rows: Sequence[str], shown: frozenset[int]) -> frozenset[int]:
    """The rows that are shown, with those between that say nothing, or are few and short."""
    small = []
    for gap in _gaps(len(rows), shown):
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
    """The rows that are shown, with a comment for each gap that says which lines it leaves out.

    Args:
        rows: the lines of the code.
        shown: the places of those that are shown.
        numbers: see `numbered`; None where they are not known.
        first_line: the number of the line that the code begins with.
        comment: what begins a comment in the language; "" for prose and data.
    """
    lines: list[str] = []
    next_row, next_line = 0, first_line
    for row in (*sorted(shown), len(rows)):
        line = numbers[row] if numbers else next_line + row - next_row
        if line > next_line:
            beside = next((each for each in rows[next_row:] if each.strip()), "")
            indent = beside[: len(beside) - len(beside.lstrip())]
            lines.append(_mark(indent, comment, (next_line, line - 1) if numbers else None))
        lines += rows[row : row + 1]
        next_row, next_line = row + 1, line + 1
    return lines


def _mark(indent: str, comment: str, places: tuple[int, int] | None) -> str:
    sign = f"{indent}{comment} ..." if comment else f"{indent}..."
    if places is None:
        return sign
    first, last = places
    return f"{sign} lines {first}-{last}" if first < last else f"{sign} line {first}"


def numbered(
    rows: Sequence[str], first: int, last: int
) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
    """The rows without the marks of gaps, and the number of each.

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
