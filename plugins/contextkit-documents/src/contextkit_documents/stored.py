"""The chunk data in a record's fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from attrs import frozen

from contextkit import Record


@frozen(kw_only=True)
class StoredChunk:
    """A chunk's location, as stored in its record.

    Attributes:
        path: its document's path in the workspace; "" where the record has none.
        kind: `documentation`, `configuration` or `metadata`.
        language: the document's language, or "".
        headings: its headings, or the names of its tables or keys.
        start_line, end_line: its first and its last line, counted from 1.
        position: its position among the chunks of its document; None where that is not known.
    """

    path: str
    kind: str
    language: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    position: int | None

    @classmethod
    def of(cls, record: Record) -> Self:
        """Parse a record's chunk; invalid fields get their defaults."""
        # Records may come from imports and from a host's own search.
        fields = record.fields
        headings = fields.get("headings")
        path = _text(fields, "file_path")
        return cls(
            path=path,
            kind=_text(fields, "kind") or "documentation",
            language=_text(fields, "language"),
            headings=tuple(map(str, headings)) if isinstance(headings, (list, tuple)) else (),
            start_line=_number(fields, "start_line") or 1,
            end_line=_number(fields, "end_line") or 1,
            position=_number(fields, "position") if path else None,
        )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _number(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if type(value) is int else None


def titled(kind: str, headings: Iterable[object]) -> str:
    """Join a chunk's headings on one line.

    Headings are shown as nested, tables and keys as a list.
    """
    return (" > " if kind == "documentation" else ", ").join(map(str, headings))
