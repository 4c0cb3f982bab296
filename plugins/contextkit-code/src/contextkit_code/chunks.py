"""A file's chunks: whole functions, tiny classes, heads of larger ones, windows of the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import frozen

from contextkit_code.definitions import Definition
from contextkit_code.languages import TRANSPARENT

WINDOW_TYPES = frozenset({"lines", "section"})
"""Unit types of chunks that are no definition."""

MAX_CLASS_LINES = 12
MAX_FIRST_MEMBER_LINES = 40
MAX_FUNCTION_LINES = 150
PART_LINES = 100
WINDOW_LINES = 50
MAX_CHARACTERS = 20_000

# Closing brackets and keywords are left over after every class, and comments that only part
# its members: they say nothing, and being short they would be found before what does.
_WORD = re.compile(r"(?!\b(?:end|fi|done|esac)\b)\b\w+")
_COMMENT = re.compile(r"\s*(?:#|//|--|/?\*|;|%|$)")
_SHORT_COMMENT = 24
_BEGINS = re.compile(r"\s*+(?![)\]}.?:&|+*/]|(?:else|elif|except|finally|catch|end)\b)\S")
"""A line that may begin a statement."""


@frozen(kw_only=True)
class Chunk:
    """A run of a file's lines that becomes one record.

    Attributes:
        unit_type: a definition's, or what the windows of the file are called.
        qualified_name: of the definition it is, or stands in; else the file's name.
        name: the last part of that.
        first: its first row, counted from 0.
        last: its last row.
        text: its text.
        signature: of the definition, empty for a window.
        docstring: of the definition, empty where there is none.
        defines: the qualified names of definitions within it, without its own.
    """

    unit_type: str
    qualified_name: str
    name: str
    first: int
    last: int
    text: str
    signature: str = ""
    docstring: str = ""
    defines: tuple[str, ...] = ()


def chunk_file(
    lines: Sequence[str], definitions: Sequence[Definition], file_name: str, window_type: str
) -> list[Chunk]:
    """The chunks of a file; together they hold every line that says something.

    Args:
        lines: the file's lines.
        definitions: what it defines; none for a file that is not parsed.
        file_name: what a window is called that stands in no definition.
        window_type: the unit type of windows.
    """
    return list(_Chunker(lines, window_type).region(0, len(lines) - 1, definitions, file_name))


@frozen
class _Chunker:
    lines: Sequence[str]
    window_type: str

    def region(
        self, first: int, last: int, definitions: Sequence[Definition], name: str
    ) -> Iterator[Chunk]:
        """The definitions within these rows, and windows of what they leave over."""
        row = first
        for definition in definitions:
            if definition.last < row:
                continue
            yield from self._windows(row, definition.first - 1, name)
            yield from self._definition(definition)
            row = definition.last + 1
        yield from self._windows(row, last, name)

    def _definition(self, definition: Definition) -> Iterator[Chunk]:
        members = () if definition.is_function else definition.members
        length = definition.last - definition.first + 1
        if definition.unit_type in TRANSPARENT:
            yield from self.region(
                definition.first, definition.last, members, definition.qualified_name
            )
        elif members and length > MAX_CLASS_LINES:
            head = max(definition.first, members[0].first - 1)
            if self._is_bare(definition, head) and _length(members[0]) <= MAX_FIRST_MEMBER_LINES:
                head = members[0].last
                members = members[1:]
            yield from self._parts(definition, definition.first, head)
            yield from self.region(head + 1, definition.last, members, definition.qualified_name)
        else:
            yield from self._parts(definition, definition.first, definition.last)

    def _is_bare(self, definition: Definition, last: int) -> bool:
        """Whether a head says nothing but the name."""
        head = "\n".join(self.lines[definition.first : last + 1])
        return not _WORD.search(head.replace(definition.signature, "", 1))

    def _parts(self, definition: Definition, first: int, last: int) -> Iterator[Chunk]:
        last = self._trimmed(first, last)[1]
        length = last - first + 1
        size = length if length <= MAX_FUNCTION_LINES else PART_LINES
        for start, end, text in self._pieces(first, last, size):
            yield Chunk(
                unit_type=definition.unit_type,
                qualified_name=definition.qualified_name,
                name=definition.name,
                first=start,
                last=end,
                text=text,
                signature=definition.signature,
                docstring=definition.docstring,
                defines=tuple(_names(definition.members, start, end)),
            )

    def _windows(self, first: int, last: int, name: str) -> Iterator[Chunk]:
        first, last = self._trimmed(first, last)
        for start, end, text in self._pieces(first, last, WINDOW_LINES):
            if _says_something(text, self.window_type):
                yield Chunk(
                    unit_type=self.window_type,
                    qualified_name=name,
                    name=name,
                    first=start,
                    last=end,
                    text=text,
                )

    def _trimmed(self, first: int, last: int) -> tuple[int, int]:
        """The rows without the blank ones at either end; first > last where all are blank."""
        while first <= last and not self.lines[first].strip():
            first += 1
        while last > first and not self.lines[last].strip():
            last -= 1
        return first, last

    def _pieces(self, first: int, last: int, size: int) -> Iterator[tuple[int, int, str]]:
        """Runs of about `size` rows and of `MAX_CHARACTERS` at most: (first, last, text)."""
        start = first
        while start <= last:
            end = min(start + size - 1, last)
            # A short rest joins what it follows.
            if last - end <= size // 5:
                end = last
            if end < last and size == PART_LINES:
                end = self._statement_end(start, end)
            end = self._within_characters(start, end)
            text = "\n".join(self.lines[start : end + 1])
            for offset in range(0, max(len(text), 1), MAX_CHARACTERS):
                yield start, end, text[offset : offset + MAX_CHARACTERS]
            start = end + 1

    def _statement_end(self, first: int, last: int) -> int:
        """The row up to `last` with the outermost statement behind it, and the latest of those."""
        rows = range(last, first + (last - first) // 2, -1)
        beginnings = [row for row in rows if _BEGINS.match(self.lines[row + 1])]
        return min(beginnings, key=lambda row: _indent(self.lines[row + 1]), default=last)

    def _within_characters(self, first: int, last: int) -> int:
        """The last row, from the first one on, that `MAX_CHARACTERS` reach to."""
        total = -1
        for row in range(first, last + 1):
            total += len(self.lines[row]) + 1
            if total > MAX_CHARACTERS:
                return max(first, row - 1)
        return last


def _says_something(text: str, window_type: str) -> bool:
    if not _WORD.search(text):
        return False
    if window_type == "section" or len(text) > 500:
        return True
    letters = sum(map(str.isalnum, text))
    return letters > _SHORT_COMMENT or not all(map(_COMMENT.match, text.split("\n")))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _length(definition: Definition) -> int:
    return definition.last - definition.first + 1


def _names(definitions: Sequence[Definition], first: int, last: int) -> Iterator[str]:
    for definition in definitions:
        if definition.first <= last and definition.last >= first:
            if definition.first >= first:
                yield definition.qualified_name
            yield from _names(definition.members, first, last)
