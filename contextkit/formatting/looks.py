"""How items look, and the text of one whose source has no format of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import evolve, frozen

from contextkit.invisible import legible
from contextkit.markup import (
    code_span,
    escape_xml,
    line_start_safe,
    markdown_text,
    one_line,
    plain_line,
    plain_text,
)
from contextkit.models import ContextItem, Detail, Style
from contextkit.rendering import group_of

__all__ = ["Look", "default_text"]

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")


@frozen
class Look:
    """A style, and how much of each item is shown."""

    style: Style = "markdown"
    detail: Detail = "full"

    @property
    def separator(self) -> str:
        """What stands behind each item's text."""
        return "\n" if self.detail == "compact" else "\n\n"


def default_text(item: ContextItem, look: Look) -> str:
    """An item's content, escaped for the style.

    `summary` shows its first paragraph, `compact` all of it on one line.
    """
    words = item.content if group_of(item.kind) == "code" else legible(item.content)
    if words is not item.content:
        item = evolve(item, content=words)
    if look.detail == "compact":
        return _COMPACT[look.style](item)
    content = item.content
    if look.detail == "summary":
        content = _PARAGRAPH_END.split(content.strip(), maxsplit=1)[0]
    return _WHOLE[look.style](item, content)


def _markdown(_: ContextItem, content: str) -> str:
    return markdown_text(content)


def _xml(item: ContextItem, content: str) -> str:
    return f"{_opening(item)}\n{escape_xml(content)}\n</entity>"


def _opening(item: ContextItem) -> str:
    name = escape_xml(one_line(item.title or item.id))
    return f'<entity name="{name}" type="{escape_xml(item.kind or item.source)}">'


def _plain(item: ContextItem, content: str) -> str:
    place = one_line(item.location or item.kind or item.source)
    words = plain_text(content)
    return f"{plain_line(item.title or item.id)} [{place}]\n{words}"


_WHOLE: Mapping[Style, Callable[[ContextItem, str], str]] = {
    "markdown": _markdown,
    "xml": _xml,
    "plain": _plain,
}


def _compact_markdown(item: ContextItem) -> str:
    place = f" ({code_span(item.location)})" if item.location else ""
    return f"- {line_start_safe(item.content)}{place}"


def _compact_xml(item: ContextItem) -> str:
    return f"{_opening(item)}{escape_xml(one_line(item.content))}</entity>"


def _compact_plain(item: ContextItem) -> str:
    place = f" ({one_line(item.location)})" if item.location else ""
    return f"{plain_line(item.content)}{place}"


_COMPACT: Mapping[Style, Callable[[ContextItem], str]] = {
    "markdown": _compact_markdown,
    "xml": _compact_xml,
    "plain": _compact_plain,
}
