"""Names of a chunk, for people and for the store."""

from __future__ import annotations

from collections.abc import Iterable


def titled(kind: str, headings: Iterable[object]) -> str:
    """Join a chunk's headings on one line.

    Headings are shown as nested, tables and keys as a list.
    """
    return (" > " if kind == "documentation" else ", ").join(map(str, headings))


def place_name(path: str, position: int) -> str:
    """Return the lookup key of a document's chunk by position."""
    return f"{position}:{path}"
