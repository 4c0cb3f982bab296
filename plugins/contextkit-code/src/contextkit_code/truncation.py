"""Shortening a code unit: its heading, signature and docstring stay, its body is cut at a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from contextkit import ContextItem
from contextkit.markup import escape_xml, plain_text
from contextkit.models import Style
from contextkit.truncation import ELLIPSIS, truncate
from contextkit_code.presentation import location_of, without_place
from contextkit_code.unit_rows import rows_by_worth

__all__ = ["truncated"]

_FENCE = re.compile(r"(`{3,})[^`]*")
_SPARE = 2
"""A line is cut within where whole lines take less than one of so many parts of the room."""


@frozen
class _Shape:
    """A formatted unit taken apart.

    Attributes:
        before: the lines before its code.
        rows: the lines of its code.
        behind: the lines behind it, with the note that it was shortened.
        bare: the unit without any of its code, and the note.
    """

    before: tuple[str, ...]
    rows: Sequence[str]
    behind: tuple[str, ...]
    bare: str

    def text(self, kept: Mapping[int, str], cut: int | None = None) -> str:
        """The unit with these rows; what is left out behind one of them is marked.

        What is left out behind the row `cut` is not: its own end says so.
        """
        lines: list[str] = []
        for row in sorted(kept):
            lines.append(kept[row])
            if row + 1 not in kept and row + 1 < len(self.rows) and row != cut:
                lines.append(ELLIPSIS)
        return "\n".join((*self.before, *lines, *self.behind))


def truncated(
    item: ContextItem, style: Style, max_tokens: int, count: Callable[[str], int]
) -> str | None:
    """A formatted unit within `max_tokens`, with a note that says where the whole of it is.

    Args:
        item: the unit, its content as it was formatted, in full or as a summary.
        style: the style that it was formatted in.
        max_tokens: what the whole result may take, note included.
        count: gives a text's tokens.

    Returns:
        The heading, and as many lines as fit: the signature's, the docstring's, those
        above them, those of the body, in the order of the code. None where not even
        heading and note fit, or the text has not the shape that it was given.
    """
    shape = _taken_apart(item, style)
    if shape is None:
        return None
    order = rows_by_worth(shape.rows, *_header(item, style))

    def first(number: int) -> dict[int, str]:
        return {row: shape.rows[row] for row in order[:number]}

    whole = 0
    high = len(order) - 1
    while whole < high:
        middle = (whole + high + 1) // 2
        if count(shape.text(first(middle))) <= max_tokens:
            whole = middle
        else:
            high = middle - 1
    text = shape.text(first(whole)) if whole else shape.bare
    if not whole or _SPARE * count(text) < max_tokens:
        text = _with_a_part(shape, first(whole), order[whole:], max_tokens, count) or text
    return text if count(text) <= max_tokens else None


def _with_a_part(
    shape: _Shape,
    kept: Mapping[int, str],
    others: Sequence[int],
    max_tokens: int,
    count: Callable[[str], int],
) -> str:
    """The unit with these rows and as much of the first other one as fits; "" for nothing."""
    if not others:
        return ""
    row = others[0]

    def within(part: str) -> str:
        return shape.text({**kept, row: part}, cut=row)

    part = truncate(shape.rows[row], max_tokens, lambda cut: count(within(cut)))
    # A row that fits whole is not cut, and would not say that more was left out.
    return within(part) if part and part != shape.rows[row] else ""


def _taken_apart(item: ContextItem, style: Style) -> _Shape | None:
    """The parts of the text; None where another plugin has changed its shape."""
    heading, *rest = item.content.split("\n")
    # Where there is nothing but heading and note, the note alone names the place.
    name = without_place(heading, item, style)
    note = f"(truncated, see full at {location_of(item) or item.id})"
    if style == "plain":
        return _Shape((heading,), rest, ("", note), f"{name}\n{note}")
    if style == "xml":
        note = escape_xml(note)
        if not heading.startswith("<entity ") or rest[-1:] != ["</entity>"]:
            return None
        return _Shape((heading,), rest[:-1], (note, rest[-1]), f"{heading}\n{note}\n{rest[-1]}")
    fence = _FENCE.fullmatch(rest[0]) if rest else None
    if fence is None or len(rest) == 1 or rest[-1] != fence[1]:
        return None
    note = f"*{note}*"
    return _Shape((heading, rest[0]), rest[1:-1], (fence[1], "", note), f"{name}\n{note}")


def _header(item: ContextItem, style: Style) -> tuple[Sequence[str], Sequence[str]]:
    """The lines of signature and docstring as they stand in a text of that style."""
    texts = (str(item.metadata.get(name) or "") for name in ("signature", "docstring"))
    signature, docstring = (_as_in(style, text).split("\n") for text in texts)
    return signature, docstring


def _as_in(style: Style, code: str) -> str:
    if style == "plain":
        return plain_text(code)
    return escape_xml(code) if style == "xml" else code
