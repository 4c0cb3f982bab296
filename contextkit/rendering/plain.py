"""Plain text as seed 4 has it."""

from __future__ import annotations

from contextkit.formatted import ContextSource
from contextkit.markup import one_line
from contextkit.rendering.document import Document

__all__ = ["heading", "render", "source_list"]


def heading(title: str) -> str:
    """What a section adds to the text beside the texts of its items."""
    return f"--- {one_line(title)} ---"


def render(document: Document) -> str:
    """The document as plain text."""
    parts = [f"=== {one_line(document.title)} ==="]
    for section in document.sections:
        parts.append(heading(section.title))
        parts += ["\n".join(section.texts)] if document.one_line_items else section.texts
    if document.listed_sources:
        parts.append(source_list(document))
    if document.footer:
        parts.append(document.footer.strip("*"))
    return "\n\n".join(parts)


def source_list(document: Document) -> str:
    """The list of sources by itself."""
    return "\n".join(["Sources:", *map(_line, document.listed_sources)])


def _line(source: ContextSource) -> str:
    return f"  - {one_line(source.name)} ({one_line(source.location or source.type)})"
