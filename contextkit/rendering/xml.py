"""XML as seed 4 has it, escaped, and in one root element so that a parser takes it."""

from __future__ import annotations

from contextkit.formatted import ContextSource
from contextkit.markup import escape_xml, one_line
from contextkit.rendering.document import Document

__all__ = ["heading", "render", "source_list"]


def heading(title: str) -> str:
    """What a section adds to the text beside the texts of its items."""
    return "\n".join(_section(title))


def _section(title: str) -> tuple[str, str]:
    return f'<section name="{_attribute(title)}">', "</section>"


def render(document: Document) -> str:
    """The document as XML."""
    lines = [f'<context title="{_attribute(document.title)}">']
    for section in document.sections:
        opening, closing = _section(section.title)
        lines += [opening, *section.texts, closing]
    if document.listed_sources:
        lines.append(source_list(document))
    if document.footer:
        lines.append(f"<footer>{escape_xml(document.footer.strip('*'))}</footer>")
    return "\n".join([*lines, "</context>"])


def source_list(document: Document) -> str:
    """The list of sources by itself."""
    return "\n".join(["<sources>", *map(_element, document.listed_sources), "</sources>"])


def _element(source: ContextSource) -> str:
    attributes = {"name": source.name, "type": source.type}
    if source.location:
        attributes["location"] = source.location
    attributes["relevance"] = f"{source.relevance:.2f}"
    spelt = " ".join(f'{name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"  <source {spelt} />"


def _attribute(text: str) -> str:
    return escape_xml(one_line(text))
