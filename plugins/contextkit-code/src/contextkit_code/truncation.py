"""Shorten a code unit to its signature and matching statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from attrs import frozen

from contextkit import ContextItem
from contextkit.models import Style
from contextkit.text import Excerpt, TextStyle, style_of, truncate
from contextkit_code.presentation import lines_above
from contextkit_code.runs import numbered, with_marks, with_small_gaps
from contextkit_code.statements import comment_sign
from contextkit_code.unit_layout import UnitRows, unit_rows
from contextkit_code.unit_rows import RowPlan, plan_rows

_FENCE = re.compile(r"(`{3,})[^`]*")
_MOST_ROWS = 400
"""Most rows of a unit that are shown.

Code is indexed in parts of some 100 lines.
"""

_LONG_ROW = 400
"""Most characters of a row before it may be cut.

Longer ones are prose or data.
"""


@frozen
class _Shape:
    """A formatted unit, split into parts.

    Attributes:
        before: the lines before its code.
        rows: the lines of its code, without gap marks.
        behind: the lines after it.
        numbers: the number of each row in its file, and of the line behind the last; None where
            they are not known.
        first_line: the number of the unit's first line.
        comment: the comment mark of its language.
    """

    before: tuple[str, ...]
    rows: tuple[str, ...]
    behind: tuple[str, ...]
    numbers: tuple[int, ...] | None
    first_line: int
    comment: str

    def text(self, shown: frozenset[int]) -> str:
        """Return the unit with these rows, and marks for gaps."""
        code = with_marks(self.rows, shown, self.numbers, self.first_line, self.comment)
        return "\n".join((*self.before, *code, *self.behind))


def truncated(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int], query: str = ""
) -> str | None:
    """Shorten a formatted unit to its relevant parts.

    The result has at most `max_tokens` tokens.

    Args:
        item: the unit, its content as it was formatted, in full or as a summary.
        style: the style that it was formatted in.
        max_tokens: the most tokens of the whole result.
        count: counts a text's tokens.
        query: the query.

    Returns:
        An excerpt: the heading, the whole signature, the docstring's first sentence, the
        statements that match with the headers of their blocks, and others while there is room.
        Of a text without statements, as much as fits. "" where an excerpt would say too little,
        None where the text does not have the shape that it was given.
    """
    shape = _taken_apart(item, style)
    if shape is None:
        return None
    plan = plan_rows(_unit_rows(item, style_of(style), shape, query), query)
    shown = _most_steps(shape, plan, max_tokens, count)
    if shown is not None:
        return Excerpt(shape.text(shown))
    return _first_row(shape, plan, max_tokens, count)


def _most_steps(
    shape: _Shape, plan: RowPlan, max_tokens: int, count: Callable[[str], int]
) -> frozenset[int] | None:
    """Return the rows of the fitting steps.

    None where those are too few.

    Small gaps are left only where nothing can be shown without them.
    """

    def joined(number: int) -> frozenset[int]:
        return with_small_gaps(shape.rows, bare(number))

    def bare(number: int) -> frozenset[int]:
        return plan.header.union(*plan.steps[:number])

    def most(rows_of: Callable[[int], frozenset[int]]) -> frozenset[int] | None:
        whole, high = 0, len(plan.steps)
        while whole < high:
            middle = (whole + high + 1) // 2
            if count(shape.text(rows_of(middle))) <= max_tokens:
                whole = middle
            else:
                high = middle - 1
        return rows_of(whole) if whole >= max(plan.least, 1) else None

    return most(joined) or most(bare)


def _first_row(shape: _Shape, plan: RowPlan, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the start of a unit with one long row.

    Such units are prose or data; "" for others.
    """
    first = next((row for row in shape.rows if row.strip()), "")
    if plan.header or len(first) < _LONG_ROW:
        return ""

    def within(part: str) -> str:
        return "\n".join((*shape.before, part, *shape.behind))

    part = truncate(first, max_tokens, lambda cut: count(within(cut)))
    text = within(part)
    return text if part and count(text) <= max_tokens else ""


def _taken_apart(item: ContextItem, style: Style) -> _Shape | None:
    """Split the text; None if another plugin changed its shape."""
    own = style_of(style)
    lines = item.content.split("\n")
    parted = own.choose(markdown=_of_markdown, xml=_of_xml, plain=_of_plain)(lines)
    return None if parted is None else _shape(item, own, *parted)


_Parted = tuple[tuple[str, ...], list[str], tuple[str, ...]] | None


def _of_markdown(lines: list[str]) -> _Parted:
    fence = _FENCE.fullmatch(lines[1]) if len(lines) > 1 else None
    if fence is None or len(lines) == 2 or lines[-1] != fence[1]:
        return None
    return (lines[0], lines[1]), lines[2:-1], (fence[1],)


def _of_xml(lines: list[str]) -> _Parted:
    if not lines[0].startswith("<entity ") or lines[1:][-1:] != ["</entity>"]:
        return None
    return (lines[0],), lines[1:-1], (lines[-1],)


def _of_plain(lines: list[str]) -> _Parted:
    return (lines[0],), lines[1:], ()


def _shape(
    item: ContextItem,
    style: TextStyle,
    before: tuple[str, ...],
    rows: Sequence[str],
    behind: tuple[str, ...],
) -> _Shape:
    above = tuple(map(style.code, lines_above(item)))
    if tuple(rows[: len(above)]) == above:
        before, rows = (*before, *above), rows[len(above) :]
    first, last = (item.metadata.get(name) for name in ("start_line", "end_line"))
    found, first_line = None, 1
    if isinstance(first, int) and isinstance(last, int):
        # A summary has other lines than the file, and so does a part of a very long line.
        found, first_line = numbered(rows, first, last), first
    kept, numbers = found or (tuple(rows), None)
    comment = comment_sign(str(item.metadata.get("language") or ""))
    return _Shape(before, kept, behind, numbers, first_line, comment)


def _unit_rows(item: ContextItem, style: TextStyle, shape: _Shape, query: str) -> UnitRows:
    rows = shape.rows[:_MOST_ROWS]
    rows = tuple(map(style.read_back, rows))
    # The rows of an element were parsed back, so they are compared with the code itself.
    as_in_rows = style.choose(markdown=style.code, xml=_as_it_is, plain=style.code)
    return unit_rows(item, rows, shape.numbers, query, as_in_rows)


def _as_it_is(code: str) -> str:
    return code
