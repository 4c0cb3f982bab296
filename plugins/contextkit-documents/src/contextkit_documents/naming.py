"""What a chunk is called, for a person and in the store."""

from __future__ import annotations

from collections.abc import Iterable


def titled(kind: str, headings: Iterable[object]) -> str:
    """The headings of a chunk on one line: one below the other, tables and keys side by side."""
    return (" > " if kind == "documentation" else ", ").join(map(str, headings))


def place_name(path: str, position: int) -> str:
    """The field by which the chunk at a place of a document is found."""
    return f"{position}:{path}"
