"""Shortening a code unit: its signature, and the statements that match the query."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence

from attrs import frozen

from contextkit import ContextItem
from contextkit.markup import plain_text
from contextkit.models import Excerpt, Style
from contextkit.truncation import ELLIPSIS, truncate
from contextkit_code.focus import Focus
from contextkit_code.unit_rows import RowPlan, UnitRows, plan_rows

__all__ = ["truncated"]

_FENCE = re.compile(r"(`{3,})[^`]*")
_SHORT_ROW = 60
"""A row that is alone in a gap is shown up to this length: a mark is not much shorter."""

_LONG_ROW = 400
"""A row that is longer may be cut within: it is prose, or data."""

_TRIES = 4
"""So many of the steps behind the first that does not fit are tried."""


@frozen
class _Shape:
    """A formatted unit taken apart.

    Attributes:
        before: the lines before its code.
        rows: the lines of its code.
        behind: the lines behind it.
        first_line: the number of the first row in its file, None where that is not known.
    """

    before: tuple[str, ...]
    rows: tuple[str, ...]
    behind: tuple[str, ...]
    first_line: int | None

    def text(self, shown: Iterable[int]) -> str:
        """The unit with these rows; a mark says which lines are left out."""
        lines: list[str] = []
        next_row = 0
        for row in sorted(shown):
            if next_row < row:
                lines += self._gap(next_row, row)
            lines.append(self.rows[row])
            next_row = row + 1
        lines += self._gap(next_row, len(self.rows))
        return "\n".join((*self.before, *lines, *self.behind))

    def _gap(self, start: int, end: int) -> Sequence[str]:
        """What stands for the rows from `start` up to `end`."""
        gap = self.rows[start:end]
        telling = [row for row in range(start, end) if self.rows[row].strip()]
        if not telling:
            return gap[:1] if start > 0 and end < len(self.rows) else ()
        if len(telling) == 1 and len(self.rows[telling[0]].strip()) <= _SHORT_ROW:
            return gap
        if self.first_line is None:
            return (ELLIPSIS,)
        first, last = self.first_line + telling[0], self.first_line + telling[-1]
        return (f"{ELLIPSIS} {first}-{last}" if first < last else f"{ELLIPSIS} {first}",)


def truncated(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str = ""
) -> str | None:
    """Shorten a formatted unit to what its query is about, within `max_tokens`.

    Args:
        item: the unit, its content as it was formatted, in full or as a summary.
        style: the style that it was formatted in.
        max_tokens: what the whole result may take.
        count: gives a text's tokens.
        query: what was asked.

    Returns:
        An excerpt: the heading, the whole signature, the docstring's first sentence, the
        statements that match with the headers of their blocks, and others while there is room.
        Of a text without statements, as much as fits. "" where an excerpt would say too little,
        None where the text does not have the shape that it was given.
    """
    shape = _taken_apart(item, style)
    if shape is None:
        return None
    plan = plan_rows(_unit_rows(item, style, shape, query), query)
    shown = _most_steps(shape, plan, max_tokens, count)
    if shown is not None:
        return Excerpt(shape.text(shown))
    return _first_row(shape, plan, max_tokens, count)


def _most_steps(
    shape: _Shape, plan: RowPlan, max_tokens: int, count: Callable[[str], int]
) -> frozenset[int] | None:
    """The rows of as many steps as fit; None where those are too few."""

    def fits(rows: frozenset[int]) -> bool:
        return count(shape.text(rows)) <= max_tokens

    def first(number: int) -> frozenset[int]:
        return plan.header.union(*plan.steps[:number])

    whole, high = 0, len(plan.steps)
    while whole < high:
        middle = (whole + high + 1) // 2
        if fits(first(middle)):
            whole = middle
        else:
            high = middle - 1
    shown, number = first(whole), whole
    for step in plan.steps[whole + 1 : whole + 1 + _TRIES]:
        if fits(shown | step):
            shown |= step
            number += 1
    return shown if number >= plan.least and number else None


def _first_row(shape: _Shape, plan: RowPlan, max_tokens: int, count: Callable[[str], int]) -> str:
    """The beginning of a unit that is one long row, such as prose or data; else ""."""
    first = next((row for row in shape.rows if row.strip()), "")
    if plan.header or len(first) < _LONG_ROW:
        return ""

    def within(part: str) -> str:
        return "\n".join((*shape.before, part, *shape.behind))

    part = truncate(first, max_tokens, lambda cut: count(within(cut)))
    text = within(part)
    return text if part and count(text) <= max_tokens else ""


def _taken_apart(item: ContextItem, style: Style) -> _Shape | None:
    """The parts of the text; None where another plugin has changed its shape."""
    heading, *rest = item.content.split("\n")
    if style == "plain":
        return _shape(item, (heading,), rest, ())
    if style == "xml":
        if not heading.startswith("<entity ") or rest[-1:] != ["</entity>"]:
            return None
        return _shape(item, (heading,), rest[:-1], (rest[-1],))
    fence = _FENCE.fullmatch(rest[0]) if rest else None
    if fence is None or len(rest) == 1 or rest[-1] != fence[1]:
        return None
    return _shape(item, (heading, rest[0]), rest[1:-1], (fence[1],))


def _shape(
    item: ContextItem, before: tuple[str, ...], rows: Sequence[str], behind: tuple[str, ...]
) -> _Shape:
    first, last = (item.metadata.get(name) for name in ("start_line", "end_line"))
    # A summary has other lines than the file, and so has a part of a very long line.
    known = isinstance(first, int) and isinstance(last, int) and last - first + 1 == len(rows)
    return _Shape(before, tuple(rows), behind, first if known else None)


def _unit_rows(item: ContextItem, style: Style, shape: _Shape, query: str) -> UnitRows:
    data = item.metadata
    rows = tuple(map(html.unescape, shape.rows)) if style == "xml" else shape.rows
    signature, docstring = (
        tuple(_as_in(style, str(data.get(name) or "")).split("\n"))
        for name in ("signature", "docstring")
    )
    frames: tuple[int, ...] = ()
    if shape.first_line is not None:
        lines = Focus.of(query).lines_in(str(data.get("file_path") or ""))
        places = (line - shape.first_line for line in lines)
        frames = tuple(place for place in places if 0 <= place < len(rows))
    return UnitRows(
        rows=rows,
        signature=signature,
        docstring=docstring,
        language=str(data.get("language") or ""),
        is_prose=data.get("unit_type") == "section",
        frames=frames,
    )


def _as_in(style: Style, code: str) -> str:
    return plain_text(code) if style == "plain" else code
