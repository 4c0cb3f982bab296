"""Split a document into chunks.

Prose is split into sections, and configuration into tables and keys.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain

from attrs import evolve, frozen

from contextkit_documents.file_kinds import FileKind, Kind
from contextkit_documents.headings import (
    Heading,
    Outline,
    outline_of,
    release_outline,
    without_labels,
)
from contextkit_documents.manual_pages import manual_outline, manual_text, reflowed
from contextkit_documents.releases import starts_a_release
from contextkit_documents.setting_keys import Key, keys_of

MAX_CHARACTERS = 2_000
"""Most characters of a section before it is cut.

A section is cut where a block begins, and a longer block at a line.
"""

_LEAST_CHARACTERS = 500
_LEFT_OVER = 300
"""Fewest characters of a section's piece.

A section that exceeds the maximum by less than this is not cut.
"""

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")

_NAMED_KEYS = 6
"""Most tables or keys in a chunk's name.

A chunk of more is named after the first ones.
"""


@frozen
class Chunk:
    """A run of a document's lines that becomes one record.

    Attributes:
        kind: `documentation`, `configuration` or `metadata`.
        headings: its headings, the highest first; for a configuration, the names of its tables or
            keys, in order.
        first: its first row, counted from 0, its heading included.
        last: its last row.
        text: its lines, without the heading if there is text below that.
    """

    kind: Kind
    headings: tuple[str, ...]
    first: int
    last: int
    text: str


def chunks_of(lines: Sequence[str], what: FileKind, *, is_changelog: bool = False) -> list[Chunk]:
    """Return a document's chunks in order.

    A document without words has none.

    Args:
        lines: its lines.
        what: its kind.
        is_changelog: whether it lists what changed: the lines that begin with a version are the
            headings of one in plain text.
    """
    if what.language == "man":
        chunks = _sections([*manual_text(lines)], manual_outline(lines), what.kind)
        return [evolve(chunk, text=reflowed(chunk.text)) for chunk in chunks]
    if what.language == "rst":
        lines = without_labels(lines)
    if is_changelog and what.language == "text":
        return list(_sections(lines, release_outline(lines), what.kind))
    if what.kind == "documentation" or what.language == "text":
        return list(_sections(lines, outline_of(lines, what.language), what.kind))
    keys = keys_of(lines, what.language, metadata=what.kind == "metadata")
    return list(_grouped(lines, keys, what.kind))


def _sections(lines: Sequence[str], outline: Outline, kind: Kind) -> Iterator[Chunk]:
    headings = outline.headings
    before = headings[0].first if headings else len(lines)
    yield from _cut(lines, Heading("", 0, 0, 0), before, (), outline.blocks, kind)
    stack: list[Heading] = []
    for number, heading in enumerate(headings):
        is_release = starts_a_release(heading.title)
        while stack and (
            stack[-1].level >= heading.level
            or (is_release and any(starts_a_release(above.title) for above in stack))
        ):
            stack.pop()
        stack.append(heading)
        following = headings[number + 1] if number + 1 < len(headings) else None
        end = len(lines) if following is None else following.first
        names = tuple(above.title for above in stack if above.title)
        if _says_something(lines[heading.body : end]):
            yield from _cut(lines, heading, end, names, outline.blocks, kind)


def _cut(
    lines: Sequence[str],
    heading: Heading,
    end: int,
    names: tuple[str, ...],
    blocks: frozenset[int],
    kind: Kind,
) -> Iterator[Chunk]:
    """Yield the section under a heading, split if long."""
    for start, stop in _pieces(lines, heading.body, end, blocks):
        first = heading.first if start == heading.body else start
        yield from _chunks(lines, kind, names, (first, start, stop))


def _pieces(
    lines: Sequence[str], start: int, end: int, blocks: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """Yield runs of rows within `MAX_CHARACTERS`.

    Runs are approximately that long at most; a single longer line is a run of its own.
    """
    ends = [0, *accumulate(len(line) + 1 for line in lines[start:end])]
    first = 0
    # A small remainder alone would say too little.
    while ends[-1] - ends[first] > MAX_CHARACTERS + _LEFT_OVER:
        furthest = max(bisect_right(ends, ends[first] + MAX_CHARACTERS) - 1, first + 1)
        least = bisect_right(ends, ends[first] + _LEAST_CHARACTERS)
        rows = range(start + furthest, start + max(least, first + 1) - 1, -1)
        stop = _border(lines, rows, blocks) - start
        yield start + first, start + stop
        first = stop
    if start + first < end:
        yield start + first, end


def _border(lines: Sequence[str], rows: range, blocks: frozenset[int]) -> int:
    """Return the last block start that no line announces.

    Without one, return the last list item.
    """
    inner = [row for row in rows if row < len(lines)]
    begin = [row for row in inner if row in blocks]
    alone = (row for row in begin if not _last_words(lines, row).endswith(":"))
    items = (row for row in inner if _ITEM.match(lines[row]))
    return next(chain(alone, items, begin), rows.start)


def _last_words(lines: Sequence[str], row: int) -> str:
    """Return the nearest non-empty line above a row."""
    while row and not lines[row - 1].strip():
        row -= 1
    return lines[row - 1].rstrip() if row else ""


def _grouped(lines: Sequence[str], keys: Sequence[Key], kind: Kind) -> Iterator[Chunk]:
    """Group neighbouring tables or keys of one kind into chunks."""
    if not keys:
        for piece in _pieces(lines, 0, len(lines), frozenset()):
            yield from _chunks(lines, kind, (), (piece[0], *piece))
        return
    # Text above the first key, such as a comment, belongs to that key.
    starts = [0, *(key.first for key in keys[1:]), len(lines)]
    begun = 0
    for number, key in enumerate(keys):
        end = starts[number + 1]
        size = sum(len(line) + 1 for line in lines[starts[begun] : end])
        if number > begun and (size > MAX_CHARACTERS or key.kind != keys[begun].kind):
            yield from _group(lines, keys[begun:number], starts[begun], starts[number])
            begun = number
    yield from _group(lines, keys[begun:], starts[begun], len(lines))


def _group(lines: Sequence[str], keys: Sequence[Key], start: int, end: int) -> Iterator[Chunk]:
    names = tuple(dict.fromkeys(key.name for key in keys))
    for piece in _pieces(lines, start, end, frozenset()):
        yield from _chunks(lines, keys[0].kind, names[:_NAMED_KEYS], (piece[0], *piece))


def _chunks(
    lines: Sequence[str], kind: Kind, names: tuple[str, ...], rows: tuple[int, int, int]
) -> Iterator[Chunk]:
    """Yield the chunk of some rows, without empty end rows.

    A very long line is split into several chunks.
    """
    first, start, stop = rows
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    headed = first < start
    while start < stop and not lines[start].strip():
        start += 1
    text = "\n".join(lines[start:stop])
    if not _says_something(text):
        return
    for at in range(0, len(text), 2 * MAX_CHARACTERS):
        part = text[at : at + 2 * MAX_CHARACTERS]
        yield Chunk(kind, names, first if headed else start, stop - 1, part)


def _says_something(text: str | Sequence[str]) -> bool:
    return any(character.isalnum() for line in text for character in line)
