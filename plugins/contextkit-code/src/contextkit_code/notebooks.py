"""Read a Jupyter notebook as code with comments, without its outputs.

A notebook is JSON: its code stands in strings, between outputs that may be a hundred times as long.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from attrs import frozen

from contextkit_code.statements import comment_sign
from contextkit_code.text_files import NotTextError

_LONGEST_SECTION = 50
"""Most rows of code and text that are joined; a longer cell stands alone."""

_SOURCE = re.compile(r'\s*"source"\s*:\s*\[?')
_HEADING = re.compile(r"(?P<level>#{1,6})\s++(?P<title>.+)")
_MARKS = re.compile(r"[*_`]|</?\w[^<>]*>")
_FENCE = "```"
_MAGIC = re.compile(r"\s*[%!?]")


@frozen
class Section:
    """A heading or a text, and the cells below it.

    Attributes:
        heading: the last heading of a text; "" before the first.
        first: its first row in `Notebook.lines`.
        last: its last one.
    """

    heading: str
    first: int
    last: int


@frozen
class Notebook:
    """A notebook's code, with its texts as comments.

    Attributes:
        language: the language of its code, in lower case.
        lines: the lines of all cells.
        rows: the row of each in the file, counted from 0.
        sections: the parts that belong together, in order.
    """

    language: str
    lines: Sequence[str]
    rows: Sequence[int]
    sections: Sequence[Section]

    @property
    def source(self) -> bytes:
        """Return the lines for a parser, without the commands of the notebook (`%matplotlib`)."""
        kept = ("" if _MAGIC.match(line) else line for line in self.lines)
        return "\n".join(kept).encode()


@frozen
class _Cell:
    is_code: bool
    lines: Sequence[str]
    rows: Sequence[int]


def read_notebook(text: str, redact: Callable[[str], str]) -> Notebook:
    """Read a notebook.

    Args:
        text: its JSON.
        redact: replaces the secrets in a cell's text, preserving its lines.

    Raises `NotTextError` for what is none.
    """
    try:
        data = json.loads(text)
        language = _language(data)
        cells = list(_cells(data["cells"], text.split("\n"), redact))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise NotTextError("it is not a notebook of version 4") from None
    comment = comment_sign(language) or "#"
    lines: list[str] = []
    rows: list[int] = []
    sections: list[Section] = []
    heading = ""
    for group in _grouped(cells):
        first = len(lines)
        for cell in group:
            heading = heading if cell.is_code else _heading(cell.lines) or heading
            said = cell.lines if cell.is_code else [f"{comment} {line}" for line in cell.lines]
            lines += [*said, ""]
            rows += [*cell.rows, cell.rows[-1]]
        sections.append(Section(heading, first, len(lines) - 2))
    return Notebook(language, lines, rows, sections)


def _language(data: dict[str, Any]) -> str:
    metadata = data.get("metadata", {})
    named = metadata.get("language_info", {}).get("name")
    return str(named or metadata.get("kernelspec", {}).get("language") or "python").lower()


def _cells(
    cells: Sequence[dict[str, Any]], raw: Sequence[str], redact: Callable[[str], str]
) -> Iterator[_Cell]:
    places = [row for row, line in enumerate(raw) if _SOURCE.match(line)]
    # Programs write a line for each string of a cell. Otherwise a cell's lines are not known.
    known = len(places) == len(cells)
    for cell, place in zip(cells, places if known else [0] * len(cells), strict=True):
        source = cell.get("source") or ""
        is_list = isinstance(source, list)
        written = "".join(map(str, source)) if is_list else str(source)
        lines = redact(written).rstrip().split("\n")
        if any(lines):
            rows = (
                range(place + 1, place + 1 + len(lines))
                if is_list and known
                else [place] * len(lines)
            )
            yield _Cell(cell["cell_type"] == "code", lines, rows)


def _grouped(cells: Sequence[_Cell]) -> Iterator[Sequence[_Cell]]:
    """Yield cells that belong together: a text goes with the code below it."""
    ends = list(accumulate((len(cell.lines) for cell in cells), initial=0))
    start = 0
    for number in range(1, len(cells) + 1):
        if (
            number == len(cells)
            or (not cells[number].is_code and cells[number - 1].is_code)
            or ends[number + 1] - ends[start] > _LONGEST_SECTION
        ):
            yield cells[start:number]
            start = number


def _heading(lines: Sequence[str]) -> str:
    """Return a text's heading: of several, the last of the highest level.

    What is shown as code has none.
    """
    found, level, is_code = "", 7, False
    for line in lines:
        is_code ^= line.lstrip().startswith(_FENCE)
        match = None if is_code else _HEADING.match(line)
        if match and len(match["level"]) <= level:
            found, level = match["title"], len(match["level"])
    return _MARKS.sub("", found).rstrip("# ").lstrip()
