"""Shortening a code unit: its heading and signature stay, its body is cut at a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from attrs import frozen

from contextkit import ContextItem
from contextkit.markup import escape_xml
from contextkit_code.presentation import location_of

__all__ = ["truncated"]

_FENCE = re.compile(r"(`{3,})[^`]*")
_ELLIPSIS = "..."


@frozen
class _Shape:
    """A formatted unit taken apart.

    Attributes:
        before: the lines before its code.
        code: the lines of its code.
        behind: the lines behind it, with the note that it was shortened.
        bare: the unit without any of its code, and the note.
        signature: the lines that its signature has in the code.
    """

    before: tuple[str, ...]
    code: Sequence[str]
    behind: tuple[str, ...]
    bare: tuple[str, ...]
    signature: Sequence[str]

    def with_code(self, lines: Sequence[str]) -> str:
        return "\n".join((*self.before, *lines, _ELLIPSIS, *self.behind))


def truncated(item: ContextItem, max_tokens: int, count: Callable[[str], int]) -> str | None:
    """The item's formatted text within `max_tokens`, note included; None if nothing fits.

    As much as fits of: the heading, the code from its first line, as far as that shows the
    signature; else the code from the signature on (docstring first, where it stands there);
    else the heading alone.
    """
    shape = _taken_apart(item)
    if shape is None:
        return None

    def fits(text: str) -> bool:
        return count(text) <= max_tokens

    start, end = _signature_rows(shape)
    for first, least in ((0, end), (start, end), (start, start + 1)):
        kept = _most_lines(shape, first, least, fits)
        if kept:
            return shape.with_code(kept)
    cut = _cut_line(shape, start, fits)
    if cut is not None:
        return cut
    bare = "\n".join(shape.bare)
    return bare if fits(bare) else None


def _taken_apart(item: ContextItem) -> _Shape | None:
    first, *rest = item.content.split("\n")
    signature = str(item.metadata.get("signature", "")).split("\n")
    note = f"(truncated, see full at {location_of(item) or item.id})"
    if first.startswith("**") and len(rest) > 2:
        fence = _FENCE.fullmatch(rest[0])
        if fence is None or rest[-1] != fence[1]:
            return None
        note = f"*{note}*"
        before, behind = (first, rest[0]), (fence[1], "", note)
        return _Shape(before, rest[1:-1], behind, (first, note), signature)
    if first.startswith("<entity ") and rest[-1:] == ["</entity>"]:
        note, signature = escape_xml(note), [escape_xml(line) for line in signature]
        bare = (first, note, rest[-1])
        return _Shape((first,), rest[:-1], bare[1:], bare, signature)
    return _Shape((first,), rest, ("", note), (first, note), signature)


def _signature_rows(shape: _Shape) -> tuple[int, int]:
    """Where the signature begins in the code and where it has ended; (0, 1) without one."""
    wanted = shape.signature[0].strip()
    for row, line in enumerate(shape.code):
        if wanted and line.strip().startswith(wanted):
            return row, min(row + len(shape.signature), len(shape.code))
    return 0, 1


def _most_lines(
    shape: _Shape, first: int, least: int, fits: Callable[[str], bool]
) -> Sequence[str]:
    """The most lines from `first` on that fit, at least up to `least`; else none."""
    low, high = least - 1, len(shape.code)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(shape.with_code(shape.code[first:middle])):
            low = middle
        else:
            high = middle - 1
    return shape.code[first:low] if low >= least else ()


def _cut_line(shape: _Shape, row: int, fits: Callable[[str], bool]) -> str | None:
    """The most of one line that fits, where not even that line does."""
    line = shape.code[row] if row < len(shape.code) else ""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(shape.with_code([line[:middle]])):
            low = middle
        else:
            high = middle - 1
    return shape.with_code([line[:low]]) if low else None
