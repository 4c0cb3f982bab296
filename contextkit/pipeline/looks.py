"""The look of items, and their default text.

The default text is used for sources without a format of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import evolve, frozen

from contextkit.models.items import ContextItem, Detail, Style
from contextkit.pipeline.render import group_of
from contextkit.text.clean import legible
from contextkit.text.markup import escape_xml, markdown_text, one_line, plain_line, plain_text
from contextkit.text.styles import TextStyle, element, style_of

_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")


@frozen
class Look:
    """A text style, and the detail shown of each item."""

    style: Style = "markdown"
    detail: Detail = "full"

    @property
    def writer(self) -> TextStyle:
        """The writer of texts in this style."""
        return style_of(self.style)

    @property
    def separator(self) -> str:
        """The separator after each item's text."""
        return "\n" if self.detail == "compact" else "\n\n"


def default_text(item: ContextItem, look: Look) -> str:
    """An item's content, escaped for the style.

    `summary` shows its first paragraph, `compact` all of it on one line.
    """
    words = item.content if group_of(item.kind) == "code" else legible(item.content)
    if words is not item.content:
        item = evolve(item, content=words)
    if look.detail == "compact":
        place = f" ({look.writer.place(item.location)})" if item.location else ""
        return look.writer.entry(
            f"{look.writer.line(item.content)}{place}",
            tag="entity",
            attributes=_attributes(item),
            text=one_line(item.content),
        )
    content = item.content
    if look.detail == "summary":
        content = _PARAGRAPH_END.split(content.strip(), maxsplit=1)[0]
    return look.writer.choose(markdown=_markdown, xml=_xml, plain=_plain)(item, content)


def _markdown(_: ContextItem, content: str) -> str:
    return markdown_text(content)


def _xml(item: ContextItem, content: str) -> str:
    return element("entity", _attributes(item), [escape_xml(content)])


def _plain(item: ContextItem, content: str) -> str:
    place = one_line(item.location or item.kind or item.source)
    return f"{plain_line(item.title or item.id)} [{place}]\n{plain_text(content)}"


def _attributes(item: ContextItem) -> Mapping[str, str]:
    return {"name": one_line(item.title or item.id), "type": item.kind or item.source}
