"""Locate a unit's signature, docstring and stack trace lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise

from attrs import frozen

from contextkit import ContextItem
from contextkit_code.focus import Focus

_WORD = re.compile(r"\w")
_CLOSING = frozenset(")]}>")
_TELLING_LINES = 3
"""Lines of a docstring that suffice to locate it."""

_MOST_DECORATORS = 4
"""Most decorator rows shown with a signature, whatever the query."""


@frozen
class UnitRows:
    """A unit's code and the layout of its rows.

    Attributes:
        rows: its lines.
        signature: the rows of its signature, as they stand in the code.
        docstring: the lines of its docstring, without their marks in the code.
        language: the name of its language.
        is_prose: whether it is text instead of code.
        frames: rows named by a stack trace.
        behind_gaps: rows before which lines of the file are left out.
    """

    rows: tuple[str, ...]
    signature: tuple[str, ...]
    docstring: tuple[str, ...]
    language: str
    is_prose: bool
    frames: tuple[int, ...]
    behind_gaps: frozenset[int]


def unit_rows(
    item: ContextItem,
    rows: tuple[str, ...],
    numbers: Sequence[int] | None,
    query: str,
    written: Callable[[str], str] = str,
) -> UnitRows:
    """Return a unit's code with its layout.

    Args:
        item: the unit.
        rows: its lines, or some of them.
        numbers: the line numbers of the rows in the file, or None.
        query: the query, with the frames of its stack trace.
        written: how a style writes code.
    """
    data = item.metadata
    signature, docstring = (
        tuple(written(str(data.get(name) or "")).split("\n")) for name in ("signature", "docstring")
    )
    lines = Focus.of(query).lines_in(str(data.get("file_path") or "")) if numbers else []
    places = {line: row for row, line in enumerate((numbers or ())[: len(rows)])} if lines else {}
    return UnitRows(
        rows=rows,
        signature=signature,
        docstring=docstring,
        language=str(data.get("language") or ""),
        is_prose=data.get("unit_type") == "section",
        frames=tuple(places[line] for line in lines if line in places),
        behind_gaps=frozenset(
            row for row, (one, other) in enumerate(pairwise(numbers or ()), 1) if other != one + 1
        ),
    )


def decorators(rows: Sequence[str], signature: range, documented: range) -> Iterable[int]:
    """Return the decorator rows above a signature, if few.

    They are neither blank nor part of its docstring.
    """
    above = [row for row in range(signature.start) if rows[row].strip() and row not in documented]
    return above if len(above) <= _MOST_DECORATORS else ()


def signature_rows(rows: Sequence[str], signature: Sequence[str]) -> range:
    """Return the rows of the signature, if found."""
    wanted = signature[0].strip() if signature else ""
    for number, row in enumerate(rows):
        if wanted and row.strip().startswith(wanted):
            return range(number, min(number + len(signature), len(rows)))
    return range(0)


def parameters(rows: Sequence[str], header: Collection[int]) -> list[range]:
    """Split the rows between the first and the last of a signature into its parameters."""
    _, *between, last = sorted(header)
    indents = {row: len(rows[row]) - len(rows[row].lstrip()) for row in between}
    own = min(indents.values(), default=0)
    starts = [
        row for row in between if indents[row] == own and rows[row][own : own + 1] not in _CLOSING
    ]
    return [range(start, end) for start, end in pairwise([*starts, last])]


def docstring_rows(
    rows: Sequence[str],
    docstring: Sequence[str],
    header: range,
    behind_gaps: Collection[int] = (),
) -> range:
    """Return the docstring's rows with their marks, if found.

    Args:
        rows: the unit's lines, or some of them.
        docstring: the lines of its docstring.
        header: the rows of its signature.
        behind_gaps: rows before which lines are left out.
    """
    lines = [line.strip() for line in docstring if line.strip()]
    telling = len(lines[:_TELLING_LINES])
    candidates = [
        (_matching(rows, number, lines, behind_gaps), number)
        for number in (*range(header.stop, len(rows)), *range(header.start))
        if lines and lines[0] in rows[number]
    ]
    # Among equals, take the first: a docstring below the signature goes before a comment above it.
    best = max(candidates, key=lambda found: min(found[0][1], telling), default=((0, 0), 0))
    (end, matched), start = best
    if matched < telling or not lines:
        return range(0)
    if start > header.stop or 0 < start < header.start:
        start -= is_mark(rows[start - 1])
    if end < len(rows) and end not in header:
        end += is_mark(rows[end])
    return range(start, end)


def _matching(
    rows: Sequence[str], start: int, lines: Sequence[str], behind_gaps: Collection[int]
) -> tuple[int, int]:
    """Match rows with lines from `start`.

    Return the first row that differs, and how many matched.
    """
    next_line = matched = 0
    for row in range(start, len(rows)):
        if row in behind_gaps:
            following = range(next_line, len(lines))
            next_line = next((n for n in following if lines[n] in rows[row]), next_line)
        if next_line == len(lines):
            return row, matched
        if lines[next_line] in rows[row]:
            next_line += 1
            matched += 1
        elif _WORD.search(rows[row]):
            return row, matched
    return len(rows), matched


def is_mark(row: str) -> bool:
    """Return whether a row has only quotes or comment marks."""
    return bool(row.strip()) and not _WORD.search(row)
