"""Build reference pages from code, with shared helpers for tables."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

BEGIN, END = "<!-- reference -->", "<!-- end of the reference -->"

_FIELDS = re.compile(r"^Attributes:\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]{4}(\w[\w, ]*): (.+(?:\n[ ]{8}.+)*)", re.MULTILINE)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table."""
    lines = [f"| {' | '.join(row)} |" for row in [headings, *rows]]
    return "\n".join([lines[0], "|---" * len(headings) + "|", *lines[1:]])


def cell(text: str) -> str:
    """Make prose one line without examples, for a table cell."""
    return " ".join(text.partition("```")[0].split()).replace("|", "\\|")


def described_fields(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield each name in `Attributes:` with its meaning."""
    found = _FIELDS.search(docstring)
    for names, meaning in _FIELD.findall(found[1]) if found else ():
        for name in names.split(","):
            yield name.strip(), cell(meaning)


def without_fields(docstring: str) -> str:
    """Return a docstring without its section `Attributes:`."""
    return _FIELDS.sub("", docstring).strip()


def filled(page: str, reference: str) -> str:
    """Replace the text between a page's two marks."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"expected {BEGIN} and {END} in the page, each on a line of its own")
    return f"{before}{BEGIN}\n\n{reference.strip()}\n\n{END}{after}"


def write_page(make: Callable[[str], str]) -> None:
    """Regenerate a page in the named file, or print it.

    Args:
        make: turns the file's text, or "", into its new text.
    """
    parser = argparse.ArgumentParser(description="Make a page of the documentation anew.")
    parser.add_argument("file", nargs="?", type=Path, help="the page; without it, it is printed")
    file = parser.parse_args().file
    if file:
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(make(old), encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(make(f"{BEGIN}\n{END}\n"))
