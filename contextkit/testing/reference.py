"""Build reference pages from the code: tables, and what the scripts share."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

BEGIN, END = "<!-- reference -->", "<!-- end of the reference -->"

_FIELDS = re.compile(r"^Attributes:\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]{4}(\w[\w, ]*): (.+(?:\n[ ]{8}.+)*)", re.MULTILINE)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in [headings, *rows]]
    return "\n".join([lines[0], "|---" * len(headings) + "|", *lines[1:]])


def cell(text: str) -> str:
    """Prose for a table's cell: one line, without its examples."""
    return " ".join(text.partition("```")[0].split()).replace("|", "\\|")


def described_fields(docstring: str) -> Iterator[tuple[str, str]]:
    """Each name of the section `Attributes:` with its meaning."""
    found = _FIELDS.search(docstring)
    for names, meaning in _FIELD.findall(found[1]) if found else ():
        for name in names.split(","):
            yield name.strip(), cell(meaning)


def without_fields(docstring: str) -> str:
    """A docstring without its section `Attributes:`."""
    return _FIELDS.sub("", docstring).strip()


def filled(page: str, reference: str) -> str:
    """A page with another text between its two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"expected {BEGIN} and {END} in the page, each on a line of its own")
    return f"{before}{BEGIN}\n\n{reference.strip()}\n\n{END}{after}"


def write_page(make: Callable[[str], str]) -> None:
    """Make a page anew in the file that the command line names, or print it.

    Args:
        make: from the file's text, or from "", to its new text.
    """
    if len(sys.argv) > 1:
        file = Path(sys.argv[1])
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(make(old), encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(make(f"{BEGIN}\n{END}\n"))
