"""What stands where in a unit's rows: its signature, its docstring, lines of a stack trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from contextkit import ContextItem
from contextkit_code.focus import Focus

_WORD = re.compile(r"\w")
_TELLING_LINES = 3
"""So many of a docstring's lines tell where in the code it stands."""

_MOST_DECORATORS = 4
"""Rows above a signature that are shown with it, whatever the query."""


@frozen
class UnitRows:
    """A unit's code, and what is known of it.

    Attributes:
        rows: its lines.
        signature: those of its signature, as they stand in the code.
        docstring: those of its docstring, without the marks that they have in the code.
        language: the name of its language.
        is_prose: whether it is text and no code.
        frames: rows that a stack trace names.
    """

    rows: tuple[str, ...]
    signature: tuple[str, ...]
    docstring: tuple[str, ...]
    language: str
    is_prose: bool
    frames: tuple[int, ...]


def unit_rows(
    item: ContextItem,
    rows: tuple[str, ...],
    numbers: Sequence[int] | None,
    query: str,
    written: Callable[[str], str] = str,
) -> UnitRows:
    """A unit's code with what its item says of it.

    Args:
        item: the unit.
        rows: its lines, or some of them.
        numbers: those of the rows in the file, or None.
        query: what was asked, with the frames of its stack trace.
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
    )


def decorators(rows: Sequence[str], signature: range, documented: range) -> Iterable[int]:
    """The rows above a signature that are neither blank nor its docstring, where they are few."""
    above = [row for row in range(signature.start) if rows[row].strip() and row not in documented]
    return above if len(above) <= _MOST_DECORATORS else ()


def signature_rows(rows: Sequence[str], signature: Sequence[str]) -> range:
    """The rows of the signature; none where it is not found."""
    wanted = signature[0].strip() if signature else ""
    for number, row in enumerate(rows):
        if wanted and row.strip().startswith(wanted):
            return range(number, min(number + len(signature), len(rows)))
    return range(0)


def docstring_rows(rows: Sequence[str], docstring: Sequence[str], header: range) -> range:
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
        start -= is_mark(rows[start - 1])
    if end < len(rows) and end not in header:
        end += is_mark(rows[end])
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


def is_mark(row: str) -> bool:
    """Whether a row has nothing but quotes or the marks of a comment."""
    return bool(row.strip()) and not _WORD.search(row)
