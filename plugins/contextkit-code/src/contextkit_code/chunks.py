"""Split a file into chunks.

Functions stay whole, as do tiny classes; of larger classes the head is a chunk, and windows cover
the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attrs import evolve, frozen

from contextkit_code.definitions import Definition
from contextkit_code.languages.language import TRANSPARENT
from contextkit_code.licences import licence_rows
from contextkit_code.notebooks import Notebook
from contextkit_code.record_kinds import CELL

MAX_CLASS_LINES = 12
MAX_FIRST_MEMBER_LINES = 40
MAX_FUNCTION_LINES = 150
PART_LINES = 100
WINDOW_LINES = 50
MAX_CHARACTERS = 20_000

# Closing brackets and keywords remain after every class, as do comments that only separate its
# members. They carry no information, and because they are short they would rank above useful
# chunks.
_WORD = re.compile(r"(?!\b(?:end|fi|done|esac)\b)\b\w+")
_COMMENT = re.compile(r"\s*(?:#|//|--|/?\*|;|%|$)")
_SHORT_COMMENT = 24
_BEGINS = re.compile(r"\s*+(?![)\]}.?:&|+*/]|(?:else|elif|except|finally|catch|end)\b)\S")
"""Match a line that may begin a statement."""


@frozen(kw_only=True)
class Chunk:
    """A run of a file's lines that becomes one record.

    Attributes:
        unit_type: the definition's type, or the file's window type.
        qualified_name: that of the definition it is, or is a part of; else the file's name.
        name: the last part of the qualified name.
        first: its first row, counted from 0.
        last: its last row.
        text: its text.
        signature: the definition's signature; empty for a window.
        docstring: the definition's docstring; empty if it has none.
        defines: the qualified names of the definitions within it, without its own.
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
    """Split a file into chunks.

    Together they hold every line that carries information. The licence above the code is left out:
    it has the same words in each file.

    Args:
        lines: the file's lines.
        definitions: its definitions; empty for a file that is not parsed.
        file_name: the name of a window outside every definition.
        window_type: the unit type of windows.
    """
    chunker, last = _Chunker(lines, window_type), len(lines) - 1
    licence = range(0) if window_type == "section" else licence_rows(lines)
    if definitions and definitions[0].first < licence.stop <= definitions[0].last:
        # It was taken for the documentation of what stands directly below it.
        below = evolve(definitions[0], first=licence.stop, docstring="")
        definitions = [below, *definitions[1:]]
    return [
        *chunker.region(0, licence.start - 1, (), file_name),
        *chunker.region(licence.stop, last, definitions, file_name),
    ]


def chunk_notebook(
    notebook: Notebook, definitions: Sequence[Definition], file_name: str
) -> list[Chunk]:
    """Split a notebook into chunks; their rows are those of its file.

    Args:
        notebook: the notebook.
        definitions: the definitions in its lines.
        file_name: the name of what stands before the first heading.
    """
    chunker = _Chunker(notebook.lines, CELL)
    return [
        evolve(chunk, first=notebook.rows[chunk.first], last=notebook.rows[chunk.last])
        for section in notebook.sections
        for own in [
            [
                each
                for each in definitions
                if section.first <= each.first <= each.last <= section.last
            ]
        ]
        for chunk in chunker.region(section.first, section.last, own, section.heading or file_name)
    ]


@frozen
class _Chunker:
    lines: Sequence[str]
    window_type: str

    def region(
        self, first: int, last: int, definitions: Sequence[Definition], name: str
    ) -> Iterator[Chunk]:
        """Yield the definitions within these rows, and windows between them."""
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
        """Return whether a head contains nothing but the name."""
        head = "\n".join(self.lines[definition.first : last + 1])
        return not _WORD.search(head.replace(definition.signature, "", 1))

    def _parts(self, definition: Definition, first: int, last: int) -> Iterator[Chunk]:
        last = self._trimmed(first, last)[1]
        # A part of documentation alone would not show what it documents.
        length = last - self._signature_row(definition, first, last) + 1
        size = last - first + 1 if length <= MAX_FUNCTION_LINES else PART_LINES
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

    def _signature_row(self, definition: Definition, first: int, last: int) -> int:
        signature = definition.signature.partition("\n")[0].strip()
        rows = range(first, last + 1)
        return next((row for row in rows if self.lines[row].lstrip().startswith(signature)), first)

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
        """Strip blank rows from both ends.

        Where all are blank, first > last.
        """
        while first <= last and not self.lines[first].strip():
            first += 1
        while last > first and not self.lines[last].strip():
            last -= 1
        return first, last

    def _pieces(self, first: int, last: int, size: int) -> Iterator[tuple[int, int, str]]:
        """Yield runs of about `size` rows: (first, last, text).

        Each has at most `MAX_CHARACTERS` characters.
        """
        start = first
        while start <= last:
            end = min(start + size - 1, last)
            # Append a short rest to the chunk before it.
            if last - end <= size // 5:
                end = last
            if end < last and self.window_type != "section":
                end = self._statement_end(start, end)
            end = self._within_characters(start, end)
            text = "\n".join(self.lines[start : end + 1])
            for offset in range(0, max(len(text), 1), MAX_CHARACTERS):
                yield start, end, text[offset : offset + MAX_CHARACTERS]
            start = end + 1

    def _statement_end(self, first: int, last: int) -> int:
        """Return the best row to end a window at.

        It is a row up to `last` that is followed by the outermost statement; of several, the
        latest.
        """
        rows = range(last, first + (last - first) // 2, -1)
        beginnings = [row for row in rows if _BEGINS.match(self.lines[row + 1])]
        return min(beginnings, key=lambda row: _indent(self.lines[row + 1]), default=last)

    def _within_characters(self, first: int, last: int) -> int:
        """Return the last row that fits into `MAX_CHARACTERS`."""
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
