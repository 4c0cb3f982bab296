"""Find parts of a text that must not be cut."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from attrs import frozen

from contextkit.text.clean import ESCAPE_PATTERN

_LINE = re.compile(r"[^\n]*")
# Quote marks and list markers before a fence, then the fence; a backtick fence has no backticks
# after it.
_OPENING = re.compile(
    r"(?P<before>(?>(?:[ \t]*+(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*)[ \t]*+)"
    r"(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})"
)
_LIST_MARKER = re.compile(r"[-*+]|\d{1,9}[.)]")
_CONTAINER = re.compile(r"[ \t>]*")
_INDENTED = re.compile(r" {4}| {0,3}\t")
_DELIMITER_ROW = re.compile(
    r"[ \t>]*+(?:\|[ \t]*+)?:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*(?:\|[ \t]*+)?"
)
# An entity, a comment, a tag, or an escaped invisible character.
_ATOM = re.compile(
    rf"{ESCAPE_PATTERN}|"
    r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
    r"|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>\n]{0,300}>",
    re.DOTALL,
)


@frozen
class Fence:
    """A fenced code block.

    Attributes:
        start: the start of its opening line.
        content: the start of its content.
        end: the start of its closing line, or the text's end.
        closing: its closing line, with the quote marks and the indentation of its place.
    """

    start: int
    content: int
    end: int
    closing: str


class TextBlocks:
    """A text's fences, tables and other uncuttable spans."""

    def __init__(self, text: str) -> None:
        self.fences: list[Fence] = []
        self._spans: list[tuple[int, int]] = []
        self._row_ends: set[int] = set()
        if "```" in text or "~~~" in text or "|" in text:
            outside = list(self._read_fences(text))
            self._read_tables(outside)
        self._spans += [match.span() for match in _ATOM.finditer(text)]
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(self._spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._fence_starts = [fence.start for fence in self.fences]

    def before_span(self, position: int) -> int:
        """The nearest earlier position that is not inside a span."""
        index = bisect_left(self._starts, position) - 1
        is_within = index >= 0 and position < self._ends[index]
        return self._starts[index] if is_within else position

    def is_in_fence(self, position: int) -> bool:
        """Whether `position` is in a fence or its markers."""
        index = bisect_right(self._fence_starts, position) - 1
        return index >= 0 and position <= self.fences[index].end

    def open_fence(self, position: int) -> Fence | None:
        """The fence that a cut at `position` leaves open."""
        index = bisect_right(self._fence_starts, position) - 1
        if index < 0:
            return None
        fence = self.fences[index]
        return fence if fence.content <= position < fence.end else None

    def is_row_end(self, position: int) -> bool:
        """Whether a table row ends at `position`."""
        return position in self._row_ends

    def _read_fences(self, text: str) -> Iterator[tuple[int, str]]:
        """Record all fences.

        Yield the lines outside of them with their positions.
        """
        opening: re.Match[str] | None = None
        start = content = 0
        in_list = False
        position = 0
        while position <= len(text):
            match = _LINE.match(text, position)
            line = match.group() if match else ""
            if opening is not None:
                if _closes(line, opening["mark"]):
                    self._add_fence(start, content, position, opening)
                    self._spans.append((position, position + len(line)))
                    opening = None
            else:
                if line.strip():
                    marked = _LIST_MARKER.match(line.lstrip(" \t>"))
                    in_list = bool(marked) or (in_list and line[:1] in " \t>")
                opening = _OPENING.match(line)
                if opening and (in_list or not _INDENTED.match(line)):
                    start, content = position, position + len(line) + 1
                    # A cut after the opening line would leave an empty block.
                    self._spans.append((start, content + 1))
                else:
                    opening = None
                    yield position, line
            position += len(line) + 1
        if opening is not None:
            self._add_fence(start, content, len(text) + 1, opening)

    def _add_fence(self, start: int, content: int, end: int, opening: re.Match[str]) -> None:
        before = _LIST_MARKER.sub(lambda marker: " " * len(marker.group()), opening["before"])
        self.fences.append(Fence(start, content, end, before + opening["mark"]))

    def _read_tables(self, lines: list[tuple[int, str]]) -> None:
        """Record all table rows.

        A header and its delimiter row are one span.
        """
        in_table = False
        previous: tuple[int, str] | None = None
        for start, line in lines:
            end = start + len(line)
            if previous is not None and previous[0] + len(previous[1]) + 1 != start:
                in_table, previous = False, None
            if in_table and line.strip():
                self._add_row(start, end)
            elif (
                previous is not None
                and "|" in previous[1]
                and "-" in line
                and _DELIMITER_ROW.fullmatch(line)
            ):
                in_table = True
                self._add_row(previous[0], end)
            else:
                in_table = False
            previous = (start, line)

    def _add_row(self, start: int, end: int) -> None:
        self._spans.append((start, end))
        self._row_ends.add(end)


def _closes(line: str, mark: str) -> bool:
    inner = _CONTAINER.sub("", line, count=1).rstrip()
    return len(inner) >= len(mark) and inner == mark[0] * len(inner)
