"""Markdown, exactly as seed 1 has it; the list of sources as seed 4."""

from __future__ import annotations

from collections.abc import Iterator

from contextkit.formatted import ContextSource
from contextkit.markup import code_span, escape_markdown, line_start_safe, one_line
from contextkit.rendering.document import Document

__all__ = ["heading", "render", "source_list"]


def heading(title: str) -> str:
    """What a section adds to the text beside the texts of its items."""
    return f"## {one_line(title)}"


def render(document: Document) -> str:
    """The document as Markdown."""
    parts = [f"# {one_line(document.title)}"]
    for section in document.sections:
        parts.append(heading(section.title))
        parts += ["\n".join(section.texts)] if document.one_line_items else section.texts
    if ending := list(_ending(document)):
        # The blank line before the rule matters: without it the last text is a heading.
        parts.append("\n".join(["---", *ending]))
    return "\n\n".join(parts)


def _ending(document: Document) -> Iterator[str]:
    if document.listed_sources:
        yield source_list(document) + ("\n" if document.footer else "")
    if document.footer:
        yield document.footer


def source_list(document: Document) -> str:
    """The list of sources by itself."""
    return "\n".join(["**Sources:**", *map(_line, document.listed_sources)])


def _line(source: ContextSource) -> str:
    location = source.location
    place = code_span(location) if location else escape_markdown(one_line(source.type))
    return f"- {line_start_safe(source.name)} ({place})"
