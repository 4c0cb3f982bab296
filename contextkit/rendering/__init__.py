"""From sections of item texts to one text: Markdown, XML or plain.

No invisible character leaves here, whatever a source, a formatter or a host wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contextkit.invisible import visible
from contextkit.models import Style
from contextkit.rendering import markdown, plain, xml
from contextkit.rendering.document import Document, RenderedSection
from contextkit.rendering.guard import guarded

__all__ = ["Document", "RenderedSection", "heading", "render", "source_list"]

_RENDER: Mapping[Style, Callable[[Document], str]] = {
    "markdown": markdown.render,
    "xml": xml.render,
    "plain": plain.render,
}
_HEADING: Mapping[Style, Callable[[str], str]] = {
    "markdown": markdown.heading,
    "xml": xml.heading,
    "plain": plain.heading,
}
_SOURCE_LIST: Mapping[Style, Callable[[Document], str]] = {
    "markdown": markdown.source_list,
    "xml": xml.source_list,
    "plain": plain.source_list,
}


def render(document: Document, style: Style) -> str:
    """The document as text; the empty text where no section has an item."""
    if not document.sections:
        return ""
    text = visible(_RENDER[style](document))
    return guarded(text) if document.guard else text


def heading(title: str, style: Style) -> str:
    """What a section adds to the text beside the texts of its items."""
    return visible(_HEADING[style](title))


def source_list(document: Document, style: Style) -> str:
    """The document's list of sources by itself."""
    return visible(_SOURCE_LIST[style](document))
