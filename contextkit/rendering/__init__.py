"""From sections of item texts to one text: Markdown, XML or plain."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from contextkit.markup import escape_xml, one_line
from contextkit.models import Style

__all__ = ["Document", "RenderedSection", "heading", "render"]


@frozen
class RenderedSection:
    """A section's heading and the texts of its items, formatted for the style."""

    title: str
    texts: Sequence[str]


@frozen
class Document:
    """What is rendered.

    Attributes:
        title: the text's heading.
        sections: those with items, in order.
        footer: the last line, Markdown; other styles drop its emphasis.
    """

    title: str
    sections: Sequence[RenderedSection]
    footer: str


def render(document: Document, style: Style) -> str:
    """The document as text; the empty text where no section has an item."""
    if not document.sections:
        return ""
    return {"markdown": _markdown, "xml": _xml, "plain": _plain}[style](document)


def heading(title: str, style: Style) -> str:
    """What a section adds to the text beside the texts of its items."""
    title = one_line(title)
    if style == "markdown":
        return f"## {title}"
    return f"--- {title} ---" if style == "plain" else "\n".join(_element(title))


def _element(title: str) -> tuple[str, str]:
    return f'<section name="{escape_xml(title)}">', "</section>"


def _markdown(document: Document) -> str:
    parts = [f"# {one_line(document.title)}"]
    for section in document.sections:
        parts += [heading(section.title, "markdown"), *section.texts]
    # The blank line before the rule matters: without it the last text is a heading.
    parts.append(f"---\n{document.footer}")
    return "\n\n".join(parts)


def _xml(document: Document) -> str:
    lines = [f'<context title="{escape_xml(one_line(document.title))}">']
    for section in document.sections:
        opening, closing = _element(one_line(section.title))
        lines += [opening, *section.texts, closing]
    lines += [f"<footer>{escape_xml(document.footer.strip('*'))}</footer>", "</context>"]
    return "\n".join(lines)


def _plain(document: Document) -> str:
    parts = [f"=== {one_line(document.title)} ==="]
    for section in document.sections:
        parts += [heading(section.title, "plain"), *section.texts]
    parts.append(document.footer.strip("*"))
    return "\n\n".join(parts)
