"""Find the examples in a unit's documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_MARKS = " \t/*#!;-"
"""What comment lines begin with."""

_ENDINGS = {
    # Rust, TypeScript, Swift, Kotlin, Elixir and others write Markdown.
    "```": "```",
    "~~~": "~~~",
    "<pre": "</pre>",
    "<code>": "</code>",
    "@example": "@",
    ">>> ": "",
    "iex>": "",
}
"""How an example begins -> how it ends; "" for an empty line."""

_HEADINGS = frozenset({"example", "examples"})
_COMMENT = re.compile(r"\s*(?://[/!]?|\*|#(?!#))?")
_MOST_ROWS = 24
_MOST_ABOVE = 4


def examples_in(rows: Sequence[str], documented: range) -> Iterator[frozenset[int]]:
    """Yield the rows of each example, with the sentence or heading above it.

    Of a long example there are only the first rows and the last.

    Args:
        rows: the unit's lines.
        documented: the rows of its docstring.
    """
    texts = {row: rows[row].strip().lstrip(_MARKS) for row in documented}
    first = documented.start
    while first < documented.stop:
        indented = _below_heading(rows, range(first, documented.stop))
        if indented > first:
            yield frozenset(range(first, min(indented, first + _MOST_ROWS) + 1))
            first = indented + 1
            continue
        ending = next(
            (e for begins, e in _ENDINGS.items() if texts[first].startswith(begins)), None
        )
        if ending is None:
            first += 1
            continue
        behind = range(first + 1, documented.stop)
        last = next((row for row in behind if _ends(texts[row], ending)), behind.stop - 1)
        above = _lead([texts[row] for row in range(documented.start, first)])
        yield frozenset({*range(first - above, min(last, first + _MOST_ROWS) + 1), last})
        first = last + 1


def _below_heading(rows: Sequence[str], documented: range) -> int:
    """Return the last row of the indented code below a heading such as "Example", if it is one.

    Elixir, Ruby, Go and Python write so. Returns the first row where there is none.
    """
    first = last = documented.start
    if rows[first].strip().strip(f"{_MARKS}:").lower() not in _HEADINGS:
        return first
    for row in range(first + 1, documented.stop):
        if rows[row].strip().lstrip(_MARKS):
            if _indent(rows[row]) <= _indent(rows[first]):
                break
            last = row
    return last


def _indent(row: str) -> int:
    """Return the indentation of a line, of one in a comment that behind its mark."""
    mark = _COMMENT.match(row)
    text = row[mark.end() :] if mark and mark[0].strip() else row
    return len(text) - len(text.lstrip())


def _ends(text: str, ending: str) -> bool:
    if ending.startswith("</"):
        return ending in text
    return text.startswith(ending) if ending else not text


def _lead(above: Sequence[str]) -> int:
    """Return how many rows above an example lead to it."""
    end = len(above)
    while end and not above[end - 1]:
        end -= 1
    start = end
    while start and above[start - 1]:
        start -= 1
    last = above[end - 1] if end else ""
    leads = last.endswith(":") or last.lower() in _HEADINGS
    return len(above) - start if leads and end - start <= _MOST_ABOVE else 0
